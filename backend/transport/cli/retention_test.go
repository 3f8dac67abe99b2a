package cli

import (
	"strings"
	"testing"
	"time"

	"deskbell/backend/record/retention"
)

func TestRetentionInATerminal(t *testing.T) {
	d := newFixture(t)
	d.removal = retention.Removal{Off: true, Bytes: 3_000_000, Items: []retention.RemovalItem{}}
	d.says("Retention is off", "retention")
	d.says("take 3.0 MB", "retention")
	d.removal.Off = false
	d.says("There is nothing to remove", "retention", "run")
	d.removal = retention.Removal{
		Bytes: 9_000_000, Pictures: retention.RemovalCount{Count: 1, Bytes: 2_000_000}, Attachments: retention.RemovalCount{Count: 2, Bytes: 1_000_000}, Removed: 3_000_000, More: 2,
		Requests: retention.RemovalCount{Count: 1, Bytes: 700},
		Items:    []retention.RemovalItem{{What: retention.Pictures, Recording: "rec_1", Operation: "op_\x1b[2J", Ended: time.Now(), Bytes: 2_000_000, Why: "age"}},
	}
	for _, want := range []string{"1 recording's pictures (2.0 MB), 2 attached files (1.0 MB), 1 request's words (1 kB)", "pictures  rec_1", "and 2 more"} {
		d.says(want, "retention")
	}
	if _, errs := d.run(exitError, "retention", "run"); !strings.Contains(errs, "--yes") || d.ran > 0 {
		t.Errorf("without a person it ran %d times: %q", d.ran, errs)
	}
	if got := decoded[retention.Removal](d, "retention", "run", "--yes", "--json"); d.ran != 1 || got.Removed != d.removal.Removed {
		t.Errorf("it ran %d times: %+v", d.ran, got)
	}
	d.kept = ""
	if _, errs := d.run(exitError, "retention", "run", "--yes"); !strings.Contains(errs, "only an operator") || d.ran != 1 {
		t.Errorf("without a session it ran %d times: %q", d.ran, errs)
	}
}
