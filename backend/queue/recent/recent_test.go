package recent

import "testing"

// What is used stays, however much passes through; what is not is forgotten, by number and by size.
func TestWhatIsUsedStays(t *testing.T) {
	for name, bytes := range map[string]int{"small": 1, "large": maxBytes / 10} {
		var c Cache[int, string]
		c.Put(-1, "used", bytes)
		c.Put(-2, "unused", bytes)
		for i := range 5 * maxCount {
			c.Put(i, "other", bytes)
			if v, ok := c.Get(-1); !ok || v != "used" {
				t.Fatalf("%s: what is used was forgotten after %d others", name, i)
			}
			if n := len(c.young) + len(c.old); n > 2*maxCount || bytes > 1 && n > 2*(10+2) {
				t.Fatalf("%s: %d are remembered", name, n)
			}
		}
		if _, ok := c.Get(-2); ok {
			t.Errorf("%s: what is not used is not forgotten", name)
		}
	}
}

func TestForgetting(t *testing.T) {
	var c Cache[string, int]
	if _, ok := c.Get("a"); ok {
		t.Error("an empty one has something")
	}
	c.Put("a", 1, 1)
	c.Put("a", 2, 1)
	c.Put("b", 3, 1)
	if v, _ := c.Get("a"); v != 2 {
		t.Errorf("a is %d", v)
	}
	c.Drop("a")
	_, a := c.Get("a")
	_, b := c.Get("b")
	if a || !b {
		t.Errorf("after a was dropped: a %v, b %v", a, b)
	}
	c.Clear()
	if _, ok := c.Get("b"); ok {
		t.Error("b is there after all was forgotten")
	}
}
