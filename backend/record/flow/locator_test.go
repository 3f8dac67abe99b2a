package flow

import (
	"testing"

	"deskbell/backend/human"
)

func TestLocators(t *testing.T) {
	for selector, want := range map[string]string{
		`aria/Save all[role="button"]`:                           `.getByRole('button', { name: 'Save all', exact: true })`,
		`aria/SAVE (2)[role="button"]`:                           `.getByRole('button', { name: new RegExp('^SAVE \\(2\\)$', 'i') })`,
		`aria/12[role="button"]`:                                 `.getByRole('button', { name: '12', exact: true })`,
		`xpath///tr[.//text()[normalize-space()="Ada"]]//button`: `.locator('xpath=//tr[.//text()[normalize-space()="Ada"]]//button')`,
	} {
		if got := locate(selector, &human.Element{}); got != want {
			t.Errorf("%s is %s, want %s", selector, got, want)
		}
	}
	row, path := []string{`xpath///tr[.//text()[normalize-space()="Ada"]]//*[local-name()="button"]`}, []string{`xpath///body/*[local-name()="button"][2]`}
	if best, _ := steady([][]string{row, {"body > button:nth-child(2)"}, path}); len(best) != 1 || best[0][0] != row[0] {
		t.Errorf("steady are %q", best)
	}
	if best, _ := steady([][]string{{"body > button:nth-child(2)"}, path}); len(best) != 2 {
		t.Errorf("with paths alone, steady are %q", best)
	}
}
