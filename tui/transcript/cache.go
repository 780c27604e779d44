package transcript

import "container/list"

type cacheKey struct {
	item      int
	width     int
	collapsed bool
}

type cacheEntry struct {
	key     cacheKey
	version uint64
	block   Block
	size    int
}

// blockCache keeps rendered blocks up to a number of bytes, dropping the least
// recently used. A newer version of an item takes the place of the older.
type blockCache struct {
	budget int
	used   int
	order  *list.List // of *cacheEntry, the most recent first
	byKey  map[cacheKey]*list.Element
}

func newBlockCache(budget int) *blockCache {
	return &blockCache{budget: budget, order: list.New(), byKey: map[cacheKey]*list.Element{}}
}

func (c *blockCache) get(key cacheKey, version uint64) (*Block, bool) {
	e, ok := c.byKey[key]
	if !ok || e.Value.(*cacheEntry).version != version {
		return nil, false
	}
	c.order.MoveToFront(e)
	return &e.Value.(*cacheEntry).block, true
}

// put always keeps the block it is given, so one larger than the budget is
// alone in the cache rather than rendered for every frame.
func (c *blockCache) put(key cacheKey, version uint64, block Block) *Block {
	if e, ok := c.byKey[key]; ok {
		c.drop(e)
	}
	entry := &cacheEntry{key: key, version: version, block: block, size: block.size()}
	c.byKey[key] = c.order.PushFront(entry)
	c.used += entry.size
	for c.used > c.budget && c.order.Len() > 1 {
		c.drop(c.order.Back())
	}
	return &entry.block
}

func (c *blockCache) drop(e *list.Element) {
	entry := c.order.Remove(e).(*cacheEntry)
	delete(c.byKey, entry.key)
	c.used -= entry.size
}
