package sqlite

import "deskbell/backend/human"

// Bounds of one generation of the cache.
const (
	cachedOperations = 2048
	cachedBytes      = 8 << 20
)

// A cache remembers the operations that changed last, so that the writer need not read them again. It has
// two generations; what no one asks for while one fills is forgotten. It is the writer's alone.
type cache struct {
	young, old map[human.OperationID]*folded
	bytes      int // of young, roughly
}

func newCache() *cache {
	c := &cache{}
	c.clear()
	return c
}

func (c *cache) clear() { c.young, c.old, c.bytes = map[human.OperationID]*folded{}, nil, 0 }

func (c *cache) get(id human.OperationID) *folded {
	if f := c.young[id]; f != nil {
		return f
	}
	f := c.old[id]
	if f != nil {
		c.put(id, f)
	}
	return f
}

func (c *cache) drop(id human.OperationID) {
	delete(c.young, id)
	delete(c.old, id)
}

func (c *cache) put(id human.OperationID, f *folded) {
	if len(c.young) >= cachedOperations || c.bytes >= cachedBytes {
		c.young, c.old, c.bytes = map[human.OperationID]*folded{}, c.young, 0
	}
	c.young[id] = f
	c.bytes += f.size
}
