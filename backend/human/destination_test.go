package human

import "testing"

func TestParseDestination(t *testing.T) {
	const id = "op_01k9zq3v7x8y2m4n6p8r0s2t4v"
	for text, want := range map[string]Destination{
		"":                              {},
		"inbox":                         {Page: "inbox"},
		id:                              {Operation: id},
		"deskbell://operation/" + id:    {Operation: id},
		OperationID(id).Link():          {Operation: id},
		Destination{Page: "x"}.String(): {}, // no page of ours: an error
	} {
		got, err := ParseDestination(text)
		if got != want || (err != nil) != (text == "x") {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for _, hostile := range []string{
		"deskbell://operation/" + id + "/approve", "deskbell://operation/" + id + "?answer=approve", "deskbell://operation/" + id + "#approve",
		"deskbell://operation/" + id + "/", "deskbell://operation/../" + id, "deskbell://user@operation/" + id, "deskbell://operation:80/" + id,
		"DESKBELL://operation/" + id, "deskbell:" + id, "deskbell://answer/" + id, "deskbell://inbox", "deskbell://operation/" + id + "\n--data=/tmp",
		"deskbell://operation/%6fp_01k9zq3v7x8y2m4n6p8r0s2t4v", "deskbell://operation/op_01K9ZQ3V7X8Y2M4N6P8R0S2T4V", "--data=/tmp/evil", "-x",
		"javascript:alert(1)", "file:///etc/passwd", id + " ", id + "x", "op_", "deskbell://operation/", "op_01k9zq3v7x8y2m4n6p8r0s2t4u", "rec_01k9zq3v7x8y2m4n6p8r0s2t4v",
	} {
		if got, err := ParseDestination(hostile); err == nil {
			t.Errorf("%q opens %+v", hostile, got)
		}
	}
}
