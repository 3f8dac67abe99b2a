package browser

import (
	"strings"
	"testing"

	"deskbell/backend/human"
)

func TestErrorsAndWarningsOfTheConsole(t *testing.T) {
	key := "AKIA" + "QWERTYUIOPASDFGH"
	v := visits(t, human.BrowserOptions{Console: true}, pages(map[string]string{"/": `<script>
		console.log("hidden log"); console.info("hidden info");
		console.error("an error", {a: 1}, 42, "https://127.0.0.1/x?token=param-3f9a");
		console.warn("a warning ` + key + `");
		console.assert(1 === 2, "sums");
		fetch("/missing");
		const w = new Worker(URL.createObjectURL(new Blob(["console.error('in a worker')"])));
		setTimeout(() => { throw new TypeError("thrown") });
		Promise.reject(new Error("rejected"));
	</script><iframe srcdoc="<script>console.error('in a frame')</script>"></iframe>`}))
	line := func(has string) human.ConsoleLine {
		t.Helper()
		return *v.wait("the line of "+has, func(e human.RecordedEvent) bool {
			return e.Type == human.PageConsole && strings.Contains(e.Console.Text, has)
		}).Console
	}
	if l := line("an error"); l.Level != "error" || l.Text != "an error Object 42 https://127.0.0.1/x?token=•••" || l.URL != v.site.URL+"/" || l.Line != 3 {
		t.Errorf("an error: %+v", l)
	}
	if l := line("a warning"); l.Level != "warning" || strings.Contains(l.Text, key) {
		t.Errorf("a warning: %+v", l)
	}
	if l := line("TypeError: thrown"); l.Level != "error" || !strings.HasPrefix(l.Text, "Uncaught") || l.Line != 8 {
		t.Errorf("an exception: %+v", l)
	}
	if l := line("404"); l.Level != "error" || !strings.HasSuffix(l.URL, "/missing") {
		t.Errorf("an answer that is an error: %+v", l)
	}
	for _, has := range []string{"Assertion failed: sums", "Error: rejected", "in a frame", "in a worker"} {
		if l := line(has); l.Level != "error" {
			t.Errorf("%s: %+v", has, l)
		}
	}
	for _, e := range v.of(human.PageConsole) {
		if strings.Contains(e.Console.Text, "hidden") {
			t.Errorf("neither error nor warning: %+v", e.Console)
		}
	}
}

func TestConsoleIsBounded(t *testing.T) {
	v := visits(t, human.BrowserOptions{Console: true}, pages(map[string]string{"/": ``}))
	v.run(`console.error("x".repeat(1e6)); for (let i = 0; i < 2000; i++) console.error("line " + i)`)
	v.until("the lines", func() bool {
		m := &v.b.shared.console
		m.mu.Lock()
		defer m.mu.Unlock()
		return len(v.of(human.PageConsole))+int(m.missing) == 2001 && m.missing > 0
	})
	if _, err := v.stop(); err != nil {
		t.Fatal(err)
	}
	gap := v.wait("a gap", func(e human.RecordedEvent) bool { return e.Type == human.GapOpened })
	lines := v.of(human.PageConsole)
	if got := len(lines) + int(gap.Gap.Count); gap.Gap.Reason != "limit" || got != 2001 {
		t.Errorf("%d lines and a gap of %+v; want 2001 together", len(lines), gap.Gap)
	}
	if n := len(lines[0].Console.Text); n > maxLine+10 {
		t.Errorf("a line of %d bytes", n)
	}
}

func TestComplaintsThatMakeNoSense(t *testing.T) {
	for _, method := range []string{"Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.loadEventFired"} {
		for _, params := range []string{``, `[]`, `{"type":"error","args":7}`, `{"entry":{"level":7}}`, `{"exceptionDetails":[]}`} {
			if c, ok := complains(method, []byte(params)); ok {
				t.Errorf("%s %s is %+v", method, params, c)
			}
		}
	}
	c, ok := complains("Runtime.consoleAPICalled", []byte(`{"type":"error","args":[{},{"type":"object"},{"value":[1]},{"type":"string","value":5}]}`))
	if !ok || c.line.Text != " object [1] 5" {
		t.Errorf("strange values: %+v", c.line)
	}
}
