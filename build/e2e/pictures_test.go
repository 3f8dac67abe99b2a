//go:build window

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/color"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/queue"
	"deskbell/backend/store/sqlite"
	"deskbell/build/e2e/desktoptest"
)

// key makes an agent's key.
func (d *fixture) key(name string) string {
	d.T.Helper()
	ctx := context.Background()
	store, err := sqlite.Open(ctx, d.data, sqlite.Options{})
	if err != nil {
		d.T.Fatal(err)
	}
	key, err := store.AddKey(ctx, name, false)
	if err := errors.Join(err, store.Close()); err != nil {
		d.T.Fatal(err)
	}
	return key
}

// grounds are what stands behind the pictures, by theme.
var grounds = map[string]string{"light": "#dcdcd7", "dark": "#060606"}

// TestPictures takes the pictures of the README from the real window and puts them into the folder that
// DESKBELL_PICTURES names (`make screenshots`); without it there is nothing to do.
func TestPictures(t *testing.T) {
	folder := os.Getenv("DESKBELL_PICTURES")
	if folder == "" {
		t.Skip("`make screenshots` takes the pictures")
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		view, theme, language string
		show                  func(d *fixture, title string)
	}{
		{"popup", "light", "en", cards},
		{"popup", "dark", "zh-CN", cards},
		{"console", "light", "en", console},
		{"console", "dark", "zh-CN", console},
	} {
		name := tt.view + "-" + tt.theme + "-" + tt.language + ".png"
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, desktoptest.Options{Notifications: true, Compositor: true})
			d.Env = append(d.Env, "DESKBELL_UI_THEME="+tt.theme, "DESKBELL_UI_LANGUAGE="+tt.language, "DESKBELL_OPERATOR_NAME="+operator)
			d.paint(grounds[tt.theme])
			s := seed(t, d, tt.language, tt.view == "console")
			d.start()
			for _, waiter := range s.waiters {
				d.StartWith([]string{"DESKBELL_KEY=" + waiter.key}, d.bin, "wait", string(waiter.id))
			}
			d.see(desktoptest.Title, s.title)
			tt.show(d, s.title)
			d.see(desktoptest.Title, s.title)
			d.Move(720, 895)
			d.alive()
			w := d.WaitWindow("Deskbell")
			d.picture(filepath.Join(folder, name), image.Rect(w.X, max(0, w.Y), w.X+w.W, w.Y+w.H))
		})
	}
}

// TestPicturesTray takes those of the tray's menu, as TestPictures does. A panel is not there: a program in GTK draws the entries that
// it would get.
func TestPicturesTray(t *testing.T) {
	folder := os.Getenv("DESKBELL_PICTURES")
	if folder == "" {
		t.Skip("`make screenshots` takes the pictures")
	}
	const margin = 8
	for name, tt := range map[string]struct{ theme, gtk, language, agents string }{
		"tray-light-en.png":   {"light", "Adwaita", "en", "Agents: 4 connected"},
		"tray-dark-zh-CN.png": {"dark", "Adwaita:dark", "zh-CN", "智能体：已连接 4 个"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newFixture(t, desktoptest.Options{Notifications: true})
			d.Env = append(d.Env, "DESKBELL_UI_THEME="+tt.theme, "DESKBELL_UI_LANGUAGE="+tt.language, "DESKBELL_OPERATOR_NAME="+operator, "GTK_THEME="+tt.gtk)
			d.paint(grounds[tt.theme])
			s := seed(t, d, tt.language, false)
			d.start()
			for _, waiter := range s.waiters {
				d.StartWith([]string{"DESKBELL_KEY=" + waiter.key}, d.bin, "wait", string(waiter.id))
			}
			d.see(desktoptest.Title, s.title)
			d.tray.Opened()
			var entries []desktoptest.MenuEntry
			// The library behind the tray leaves out the menu in it at the first reading.
			d.Wait("the agents in the tray, and the menu in it", func() bool {
				entries = d.tray.Entries()
				return slices.ContainsFunc(entries, func(e desktoptest.MenuEntry) bool { return len(e.Inner) > 0 }) &&
					slices.ContainsFunc(entries, func(e desktoptest.MenuEntry) bool { return e.Label == tt.agents })
			})
			text, err := json.Marshal(entries)
			if err != nil {
				t.Fatal(err)
			}
			_, line := d.StartLine("/usr/bin/python3", filepath.Join(desktoptest.Apps(), "menu.gtk3.py"), string(text))
			var x, y, w, h int
			if _, err := fmt.Sscan(line, &x, &y, &w, &h); err != nil {
				t.Fatal(err)
			}
			d.picture(filepath.Join(folder, name), image.Rect(x-margin, y-margin, x+w+margin, y+h+margin))
		})
	}
}

func cards(*fixture, string) {}

func console(d *fixture, title string) {
	d.Ended(d.Start(d.bin)) // the second start shows it
	d.Wait("the console", func() bool { w, _ := d.FindWindow("Deskbell"); return w.W > 1000 })
	row := d.see(desktoptest.Link, title).At
	d.Click(row.Min.X+row.Dx()/2, row.Min.Y+row.Dy()/2)
}

// paint covers the desktop: without a wallpaper the compositor shows a grey of its own.
func (d *fixture) paint(colour string) {
	d.T.Helper()
	d.Start("xterm", "-T", "ground", "-bg", colour, "-fg", colour, "-cr", colour, "-geometry", "260x75")
	w := d.WaitWindow("ground")
	d.Do("xdotool", "windowsize", "--sync", w.ID, "1600", "1100", "windowmove", w.ID, "-60", "-60")
	d.Wait("the ground", func() bool {
		screen := d.Screenshot("")
		return near(screen.At(5, 5), screen.At(1435, 895)) && !near(screen.At(5, 5), color.Gray{0x80})
	})
}

// alive waits until the answers are: a dead one is a button that is not enabled.
func (d *fixture) alive() {
	d.T.Helper()
	d.look("the answers to be alive", func(all []desktoptest.Element) bool {
		n := 0
		for _, e := range all {
			if e.Role == desktoptest.Button && e.Enabled {
				n++
			}
		}
		return n >= 4
	})
}

// picture waits until nothing moves in a part of the screen, and saves it with as few colors as a drawn
// page needs.
func (d *fixture) picture(path string, part image.Rectangle) {
	d.T.Helper()
	crop := fmt.Sprintf("%dx%d+%d+%d", part.Dx(), part.Dy(), part.Min.X, part.Min.Y)
	before := ""
	d.Wait("a still picture", func() bool {
		now := d.Do("sh", "-c", "import -window root -crop "+crop+" +repage rgb:- | sha256sum")
		still := now == before
		before = now
		return still
	})
	d.Do("import", "-window", "root", "-crop", crop, "+repage", "-strip", "+dither", "-colors", "256",
		"-define", "png:compression-level=9", "-define", "png:compression-filter=0", "png8:"+path)
}

const operator = "kim"

type waiter struct {
	key string
	id  human.OperationID
}

type seeded struct {
	title   string // of the operation on the table
	waiters []waiter
}

// An operator's typical day, in their language.
func seed(t *testing.T, d *fixture, language string, conversation bool) (s seeded) {
	t.Helper()
	ctx := context.Background()
	say := func(en, zh string) string {
		if language == "zh-CN" {
			return zh
		}
		return en
	}
	store, err := sqlite.Open(ctx, d.data, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	start := time.Now()
	clock := start
	q := queue.New(store, store, queue.Options{Now: func() time.Time { return clock }})
	if err := q.Load(ctx); err != nil {
		t.Fatal(err)
	}
	must := func(op human.Operation, err error) human.Operation {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return op
	}
	ago := func(minutes, seconds int) {
		clock = start.Add(-time.Duration(minutes)*time.Minute - time.Duration(seconds)*time.Second)
	}
	me := human.Actor{Role: human.Operator, Name: operator}
	mei := human.Actor{Role: human.Operator, Name: "Mei"}
	agent := func(op human.Operation) human.Actor { return human.Actor{Role: human.Agent, Name: op.AgentID} }
	ring := func(name string, kind human.Kind, priority int, limit time.Duration, description string, details map[string]any) human.Operation {
		t.Helper()
		text, err := json.Marshal(details)
		if err != nil {
			t.Fatal(err)
		}
		op, _, err := q.Ring(ctx, human.Request{
			Kind: kind, AgentID: name, Description: description, Details: text, Priority: priority, Timeout: limit.Seconds(),
		}, false)
		must(op, err)
		for _, channel := range []string{"card", "notification", "tray"} {
			must(q.Shown(ctx, op.ID, channel, ""))
		}
		return op
	}
	waits := func(op human.Operation) {
		t.Helper()
		key, err := store.AddKey(ctx, op.AgentID, false)
		if err != nil {
			t.Fatal(err)
		}
		s.waiters = append(s.waiters, waiter{key, op.ID})
	}

	ago(122, 0)
	op := ring("infra-agent", human.Bash, 4, 4*time.Hour, say("Touch the hardware key for aws sso", "为 aws sso 触碰硬件密钥"), map[string]any{
		"required_action": "aws sso login --profile prod", "why_agent_cant": "The key must be touched by hand.",
	})
	ago(118, 0)
	until := start.Add(82 * time.Minute)
	must(q.Snooze(ctx, me, op.ID, &until))

	ago(64, 0)
	op = ring("claude-code", human.Review, 4, 3*time.Hour, say("Review: refresh tokens under a lock", "审查：在锁内刷新令牌"), map[string]any{
		"file_path": "internal/auth/session.go", "focus_areas": []string{"deadlocks", "expiry"},
	})
	waits(op)
	ago(58, 0)
	must(q.Reply(ctx, me, op.ID, say("Why is the token refreshed before the lock is taken?", "为什么在加锁之前就刷新令牌？")))

	ago(41, 0)
	ring("qa-runner", human.Desktop, 5, 10*time.Minute, say("Export the signed contract from the desktop client", "从桌面客户端导出已签署的合同"), map[string]any{
		"required_action": "Contracts > 2026-118 > Export as PDF",
	})

	ago(26, 0)
	op = ring("price-scout", human.Browser, 4, time.Hour, say("Read the quota from the vendor console", "从供应商控制台读取配额"), map[string]any{
		"target_url": "https://vendor.example/quota", "data_to_extract": []string{"limit", "used"},
	})
	ago(20, 0)
	must(q.Claim(ctx, mei, op.ID))

	ago(5, 48)
	s.title = say("Roll out api 2.14.0 to production", "将 api 2.14.0 发布到生产环境")
	release := ring("release-bot", human.Approve, 8, 10*time.Minute, s.title, map[string]any{
		"action":     "kubectl apply -f prod-deployment.yaml",
		"risk_level": "high",
		"impact": json.RawMessage(`[
			{"service": "api", "now": "2.13.4", "after": "2.14.0", "pods": 18},
			{"service": "gateway", "now": "2.13.4", "after": "2.14.0", "pods": 8},
			{"service": "worker", "now": "2.13.4", "after": "2.14.0", "pods": 12},
			{"service": "cron", "now": "2.12.9", "after": "2.14.0", "pods": 2},
			{"service": "web", "now": "2.13.4", "after": "2.14.0", "pods": 6}]`),
		"risk":          say("All traffic moves within 6 minutes. cron skips one minor version.", "全部流量将在 6 分钟内切换；cron 跳过一个次要版本。"),
		"rollback":      "kubectl rollout undo deployment/api",
		"environment":   say("prod", "生产环境"),
		"reversibility": say("hard to undo", "回退代价高"),
		"tests":         say("412 passed, 0 failed", "412 项通过，0 项失败"),
		"change_ticket": "OPS-1182",
	})
	waits(release)
	if conversation {
		ago(3, 16)
		must(q.Seen(ctx, me, release.ID, "card"))
		ago(2, 55)
		must(q.Reply(ctx, me, release.ID, say("Why does cron jump from 2.12?", "cron 为什么从 2.12 直接跳过来？")))
		ago(2, 31)
		must(q.Reply(ctx, agent(release), release.ID, say(
			"Its 2.13 rollout was paused on Tuesday (OPS-1170). The migration in 2.14 covers both steps.",
			"它的 2.13 发布在周二暂停了（OPS-1170）。2.14 的迁移涵盖了这两步。")))
	}

	ago(2, 4)
	waits(ring("migrator", human.Approve, 5, 30*time.Minute, say("Move billing to Postgres 17", "将 billing 迁移到 Postgres 17"), map[string]any{
		"action": "pg_upgrade --link --jobs 4", "risk_level": "medium",
		"impact": say("billing is read-only for about 4 minutes", "billing 约有 4 分钟只读"),
	}))

	ago(0, 52)
	waits(ring("doc-writer", human.Feedback, 6, 30*time.Minute, say("Which tone should the 2.14 release notes take?", "2.14 的发布说明用哪种语气？"), map[string]any{
		"options": []string{
			say("Plain list, one line per change", "纯列表，每项变更一行"),
			say("Short story first, then the list", "先讲一小段，再列清单"),
			say("Upgrade steps only", "只写升级步骤"),
		},
	}))
	return s
}
