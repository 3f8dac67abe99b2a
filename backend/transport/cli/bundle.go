package cli

import (
	"archive/zip"
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/store/datadir"
)

// A page is one file of a bundle.
type page struct{ name, text string }

// bundle is what the doctor puts together for whoever helps: its report, the settings, the last lines of the logs, the reports of
// crashes, and sizes. Nothing of requests, answers, recordings and keys is in it; the rest is masked.
func (s *shell) bundle(p Place, checks []human.Diagnosis) ([]page, error) {
	if _, _, err := datadir.Reports(p.Dir, s.Mask); err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the reports of crashes cannot be read: %v", err)
	}
	var config strings.Builder
	if p.Config != nil {
		for _, v := range p.Config.Values() {
			value := shown(v.Value)
			if text, is := v.Value.(string); is && text != "" && v.Allowed == nil || v.Type == "list" {
				value = "(not shown)" // a name, an address, a path: the operator's own words
			}
			fmt.Fprintf(&config, "%s = %s (%s)\n", v.Key, value, v.Source)
		}
	}
	pages := []page{{"about.txt", s.About}, {"report.txt", reportText(checks, nil)}, {"settings.txt", config.String()}, {"sizes.txt", sizes(p.Dir)}}
	log, err := datadir.TailLog(filepath.Join(p.Dir, datadir.Log), 1000)
	if err != nil {
		return nil, human.Wrap(human.Unavailable, err, "the log cannot be read: %v", err)
	}
	pages = append(pages, page{"log.txt", log})
	for _, path := range datadir.CrashReports(p.Dir) {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, human.Wrap(human.Unavailable, err, "%s cannot be read: %v", path, err)
		}
		pages = append(pages, page{"crashes/" + filepath.Base(path), string(text)})
	}
	home, _ := os.UserHomeDir()
	for i := range pages {
		pages[i].text = s.Mask(pages[i].text)
		if len(home) > 1 {
			pages[i].text = strings.ReplaceAll(pages[i].text, home, "~")
		}
	}
	return pages, nil
}

// sizes are how large what Deskbell itself keeps in a data folder is, by the names that it gives: those of files in its folders may be
// anyone's.
func sizes(dir string) string {
	var b strings.Builder
	for _, name := range []string{datadir.Database, datadir.Database + "-wal", datadir.Log, "config.toml", "gate.toml", datadir.Crashes, "pictures", "attachments", "backups", "browser", "summarizers"} {
		files, bytes := 0, int64(0)
		_ = filepath.WalkDir(filepath.Join(dir, name), func(_ string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil //nolint:nilerr // what cannot be looked at is not counted
			}
			if info, err := d.Info(); err == nil {
				files, bytes = files+1, bytes+info.Size()
			}
			return nil
		})
		fmt.Fprintf(&b, "%-16s %14d bytes, files: %d\n", name, bytes, files)
	}
	return b.String()
}

// writeBundle shows the pages, asks, and writes them into one zip file. A file that is there already stays.
func (s *shell) writeBundle(path string, pages []page, yes bool, words human.Translation) error {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, p := range pages {
		s.printf("===== %s (%d bytes)\n", p.name, len(p.text))
		for line := range strings.Lines(p.text) {
			s.printf("%s\n", visible(strings.TrimRight(line, "\r\n")))
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: p.name, Method: zip.Deflate, Modified: time.Now()})
		if err == nil {
			_, err = f.Write([]byte(p.text))
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if !yes {
		if !s.interactive() {
			return human.Errorf(human.Invalid, "nothing was written; --yes writes it without a question")
		}
		lines := bufio.NewScanner(s.in)
		if !s.ask(words.Say(human.Sayf("Write this, and nothing else, to %s? [y/N]", visible(path)))+" ", lines) || !strings.EqualFold(strings.TrimSpace(lines.Text()), "y") {
			s.note("%s", words.Say(human.Sayf("Nothing was written.")))
			s.code = exitNo
			return nil
		}
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.Write(packed.Bytes())
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return human.Wrap(human.Unavailable, err, "%s cannot be written: %v", path, err)
	}
	s.note("%s", words.Say(human.Sayf("Wrote %s. Read it before you send it to anyone.", visible(path))))
	return nil
}
