package prompt_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"deskbell/backend/llm"
	"deskbell/backend/llm/llmtest"
	"deskbell/summarizers/prompt"
)

// TestExamples runs the templates in the documents as an operator would have them run.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../docs/summarizers/examples/prompt/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		template, err := prompt.Parse(strings.TrimSuffix(filepath.Base(file), ".md"), text)
		if err != nil {
			t.Fatal(err)
		}
		for _, provider := range []string{llm.Anthropic, llm.OpenAI} {
			for _, language := range template.Languages {
				t.Run(template.Name+" "+provider+" "+language, func(t *testing.T) {
					server, url := llmtest.Start(t)
					m, err := llm.New(llm.Config{Provider: provider, Model: llmtest.Model, BaseURL: url, Pictures: true,
						Key: func(context.Context, string) (string, error) { return llmtest.Key, nil }})
					if err != nil {
						t.Fatal(err)
					}
					in := input()
					in.Language = language
					s := prompt.New(template, m, same)
					if !s.About().Fits(in) {
						t.Fatal("it is for something else")
					}
					r, err := s.Summarize(t.Context(), in, nil)
					if err != nil || len(r.Findings) < 4 {
						t.Errorf("%+v, %v", r, err)
					}
					q := server.Requests()[0]
					if want := map[string]string{"en": "Suggest announcing it only", "zh-CN": "才可以建议发公告"}[language]; !strings.Contains(q.System, want) || q.Tokens != 1500 || len(q.Pictures) != 2 {
						t.Errorf("%d tokens, %d pictures, asked\n%s", q.Tokens, len(q.Pictures), q.System)
					}
				})
			}
		}
	}
}
