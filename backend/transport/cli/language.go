package cli

import (
	"cmp"
	"encoding/json"
	"os"
	"strings"

	"deskbell/backend/human"
)

// language is what a person is spoken to in: that of ui.language, else of the system. It is English (nil) for a place without settings
// where the system's is not Chinese.
func (s *shell) language(p Place) human.Translation {
	locale := "system"
	if p.Config != nil {
		locale = p.Config.Settings().UI.Language
	}
	if !isChinese(locale) {
		return nil
	}
	var words human.Translation
	if json.Unmarshal(s.Chinese, &words) != nil {
		return nil // the texts are there in English
	}
	return words
}

// isChinese says whether what ui.language holds means Chinese: "system" is what the system speaks.
func isChinese(language string) bool {
	if language == "" || language == "system" {
		language = cmp.Or(os.Getenv("LC_ALL"), os.Getenv("LC_MESSAGES"), os.Getenv("LANG"), systemLocale())
	}
	return strings.HasPrefix(strings.ToLower(language), "zh")
}
