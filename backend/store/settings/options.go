package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"deskbell/backend/human"
	"deskbell/backend/plan"
	"deskbell/backend/queue"
	"deskbell/backend/record"
	"deskbell/backend/record/retention"
	"deskbell/backend/summary"
)

// Queue are the options of the queue.
func (s Settings) Queue() queue.Options {
	return queue.Options{
		Disabled:       !s.Human.Enabled,
		DefaultTimeout: time.Duration(s.Human.DefaultTimeout) * time.Second,
		MaxPending:     s.Human.MaxPendingRequests,
		MaxHistory:     s.Human.MaxHistory,
		MaxDescription: s.Limits.MaxDescription,
		MaxDetails:     s.Limits.MaxDetails,
		MaxContext:     s.Limits.MaxContext,
	}
}

// MaxBody is the largest request, in bytes, whose parts are within their limits: escaped in JSON, a byte of text takes six.
func (s Settings) MaxBody() int64 {
	return max(4<<20, int64(6*s.Limits.MaxDescription+s.Limits.MaxDetails+s.Limits.MaxContext+64<<10))
}

// Plans are the options of plans.
func (s Settings) Plans() plan.Options {
	return plan.Options{
		Confirm: s.Plan.ConfirmByHuman, Timeout: time.Duration(s.Plan.ConfirmationTimeout) * time.Second, Modify: s.Plan.AllowTaskModification,
		AutoSafe: s.Plan.AutoConfirmSafeTasks, Confirmations: s.Plan.Confirmations, Operators: s.Plan.Operators,
	}
}

// Summaries are the options of summaries.
func (s Settings) Summaries() summary.Options {
	o := summary.Options{Auto: s.Human.AutoSummarize, Language: s.Summarizers.Language}
	for _, text := range s.Summarizers.Use {
		if rule, err := summary.ParseRule(text); err == nil { // they were checked when they were read
			o.Rules = append(o.Rules, rule)
		}
	}
	return o
}

// Recorder are the options of the recorder, but for its own keys.
func (s Settings) Recorder() record.Options {
	exclude := s.Recording.Exclude
	if s.Recording.ExcludeDefaults {
		exclude = slices.Concat(record.DefaultExclude, exclude)
	}
	return record.Options{
		MaxElapsed: time.Duration(s.Recording.MaxMinutes) * time.Minute, MaxBytes: int64(s.Recording.MaxMegabytes) * 1e6, Exclude: exclude,
	}
}

// Retained are the rules of what is removed once it is old or too much.
func (s Settings) Retained() retention.Rules {
	const day = 24 * time.Hour
	return retention.Rules{
		Pictures: time.Duration(s.Retention.PicturesDays) * day, Recordings: time.Duration(s.Retention.RecordingsDays) * day,
		Requests: time.Duration(s.Retention.RequestsDays) * day, Bytes: int64(s.Retention.MaxMegabytes) * 1e6,
	}
}

// Record are the options of one recording: those given, with the settings for what was left open.
func (s Settings) Record(o human.RecordingOptions) human.RecordingOptions {
	if o.Folders == nil {
		for _, folder := range s.Recording.Folders {
			if rest, home := strings.CutPrefix(folder, "~"); home {
				if dir, err := os.UserHomeDir(); err == nil {
					folder = filepath.Join(dir, rest)
				}
			}
			o.Folders = append(o.Folders, folder)
		}
	}
	if o.Clipboard == "" {
		o.Clipboard = s.Recording.Clipboard
	}
	if o.Browser != nil && o.Browser.Profile == "" {
		web := *o.Browser
		web.Profile = s.Browser.Profile
		o.Browser = &web
	}
	return o
}
