package browser

import (
	"testing"

	"deskbell/backend/human"
)

// TestPage drives real pages with the input of a person, and reads what the page script tells of it.
func TestPage(t *testing.T) {
	c := startChromium(t)
	t.Run("a click is told with the button as it was before it changed", func(t *testing.T) {
		p := c.open(t, `<button id=save><span>Save</span></button><script>save.onmousedown = () => { save.textContent = 'Saving' }</script>`)
		p.click("#save span")
		press, click := p.wait(human.PagePress, nil), p.wait(human.PageClick, nil)
		if press.Element.Name != "Save" || click.Element.Name != "Save" || click.Element.Role != "button" || click.Count != 1 || press.X != click.X {
			t.Errorf("%s", p.told())
		}
	})
}
