package llm

import (
	"fmt"
	"net/http"
	"testing"
)

// What servers say of a request that is longer than their model takes, and what only sounds like it.
func TestTooLong(t *testing.T) {
	for body, long := range map[string]bool{
		`{"error":{"code":"context_length_exceeded","message":"Too much."}}`:                                                          true,
		`{"error":{"type":"invalid_request_error","message":"prompt is too long: 208310 tokens > 200000 maximum"}}`:                   true,
		`{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000","code":400}`:   true,
		`{"error":{"type":"exceed_context_size_error","message":"the request exceeds the available context size"}}`:                   true,
		`{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]"}}`:                         true,
		`{"error":{"message":"The input token count (1200000) exceeds the maximum number of tokens allowed. Too many input tokens"}}`: true,
		`{"error":{"message":"max_tokens is too large: 9000"}}`:                                                                       false,
		`{"error":{"message":"messages: roles must alternate"}}`:                                                                      false,
		`{"error":{"message":"response_format is not supported"}}`:                                                                    false,
	} {
		f := failureOf(http.StatusBadRequest, http.Header{}, []byte(body))
		if f.long() != long || f.form == long {
			t.Errorf("%s: %+v", body, f)
		}
	}
	for status, long := range map[int]bool{413: true, 422: true, 500: true, 429: false, 200: false} {
		f := failureOf(status, http.Header{}, fmt.Appendf(nil, `{"error":{"message":"prompt is too long"}}`))
		if f.long() != long || long && f.again {
			t.Errorf("%d: %+v", status, f)
		}
	}
}
