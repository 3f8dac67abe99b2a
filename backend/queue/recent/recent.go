// Package recent remembers what was used last, in memory of a bounded size.
package recent

// Bounds of one generation.
const (
	maxCount = 2048
	maxBytes = 8 << 20
)

// A Cache has two generations, each of at most 2,048 values and, roughly, 8 MiB; what no one asks for while one fills is
// forgotten. The zero value is ready. It is not safe for concurrent use.
type Cache[K comparable, V any] struct {
	young, old map[K]sized[V]
	bytes      int // of young, roughly
}

type sized[V any] struct {
	value V
	bytes int
}

// Clear forgets all.
func (c *Cache[K, V]) Clear() { *c = Cache[K, V]{} }

// Get returns what Put was given last, unless it is forgotten.
func (c *Cache[K, V]) Get(key K) (value V, ok bool) {
	if s, ok := c.young[key]; ok {
		return s.value, true
	}
	s, ok := c.old[key]
	if ok {
		c.Put(key, s.value, s.bytes)
	}
	return s.value, ok
}

// Drop forgets one.
func (c *Cache[K, V]) Drop(key K) {
	delete(c.young, key)
	delete(c.old, key)
}

// Put remembers a value, of about so many bytes.
func (c *Cache[K, V]) Put(key K, value V, bytes int) {
	if c.young == nil || len(c.young) >= maxCount || c.bytes >= maxBytes {
		c.young, c.old, c.bytes = map[K]sized[V]{}, c.young, 0
	}
	c.young[key] = sized[V]{value, bytes}
	c.bytes += bytes
}
