package client_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"deskbell/backend/gate/service"
	"deskbell/backend/human"
	"deskbell/backend/transport/client"
)

func TestRetryWaitsLongerEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		told := 0
		lost := human.Errorf(human.Unavailable, "nobody there")
		try := func(most time.Duration, tries int) error {
			return client.Retry(t.Context(), most, func() { told++ }, func() error {
				at = append(at, time.Since(began))
				if len(at) > tries {
					return nil
				}
				return lost
			})
		}
		want := []time.Duration{0, 100, 300, 700, 1500, 3100, 6300, 11300, 16300}
		for i := range want {
			want[i] *= time.Millisecond
		}
		if err := try(client.Patience, 8); err != nil || told != 1 || !slices.Equal(at, want) {
			t.Errorf("%v, told %d times, tried after %v", err, told, at)
		}
		if err := try(time.Second, 1000); human.KindOf(err) != human.Unavailable || len(at) > 9+6 {
			t.Errorf("%v after %d tries", err, len(at)-9)
		}
		ctx, stop := context.WithCancel(t.Context())
		began = time.Now()
		if err := client.Retry(ctx, client.Patience, stop, func() error { return lost }); human.KindOf(err) != human.Unavailable || time.Since(began) > 0 {
			t.Errorf("ended by ctx: %v after %s", err, time.Since(began))
		}
	})
}

// A call goes to where the server is now; what may have been done already is not done again.
func TestAClientFindsItsServerAgain(t *testing.T) {
	var calls atomic.Int64
	there := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		_, _ = io.WriteString(w, `{}`)
	}))
	defer there.Close()
	gone := httptest.NewServer(nil)
	gone.Close()
	breaks := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer breaks.Close()
	post := func(c *client.Client) error {
		_, err := c.Reply(t.Context(), "op_1", "x")
		return err
	}
	get := func(c *client.Client) error {
		_, err := c.Operation(t.Context(), "op_1")
		return err
	}
	judge := func(c *client.Client) error {
		_, err := c.Evaluate(t.Context(), human.ToolCall{CallID: "c"}, service.Asking{})
		return err
	}
	none := human.Errorf(human.NotFound, "no Deskbell runs")
	for name, tt := range map[string]struct {
		call  func(*client.Client) error
		at    []string // by turns; "": none
		calls int64
		fails bool
	}{
		"it is there":                    {post, []string{there.URL}, 1, false},
		"it moved, and heard nothing":    {post, []string{gone.URL, there.URL}, 1, false},
		"it broke off in a change":       {post, []string{breaks.URL, there.URL}, 0, true},
		"it broke off while it was read": {get, []string{breaks.URL, there.URL}, 1, false},
		"it broke off in a judgement":    {judge, []string{breaks.URL, there.URL}, 1, false},
		"it moves all the time":          {get, []string{gone.URL, breaks.URL, gone.URL, breaks.URL, there.URL}, 0, true},
		"it is gone":                     {get, []string{gone.URL}, 0, true},
		"there is none":                  {post, []string{""}, 0, true},
		"there is none any more":         {get, []string{gone.URL, ""}, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			turn := 0
			c := client.Finding(func() (string, error) {
				at := tt.at[min(turn, len(tt.at)-1)]
				turn++
				if at == "" {
					return "", none
				}
				return at, nil
			}, "key")
			defer c.Close()
			err := tt.call(c)
			if kind := human.KindOf(err); tt.fails != (kind == human.Unavailable) || !tt.fails && err != nil || calls.Load() != tt.calls {
				t.Errorf("%v after %d calls", err, calls.Load())
			}
		})
	}
}
