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

// blockCache is an LRU cache of rendered blocks, bounded in bytes. It holds one version per key.
type blockCache struct {
	budget int
	used   int
	order  *list.List // of *cacheEntry, most recently used first
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

// put always stores the block. A block larger than the budget evicts all others, so that it is not
// rendered again for each frame.
func (c *blockCache) put(key cacheKey, version uint64, block Block) *Block {
	if e, ok := c.byKey[key]; ok {
		c.remove(e)
	}
	entry := &cacheEntry{key: key, version: version, block: block, size: block.size()}
	c.byKey[key] = c.order.PushFront(entry)
	c.used += entry.size
	for c.used > c.budget && c.order.Len() > 1 {
		c.remove(c.order.Back())
	}
	return &entry.block
}

func (c *blockCache) remove(e *list.Element) {
	entry := c.order.Remove(e).(*cacheEntry)
	delete(c.byKey, entry.key)
	c.used -= entry.size
}
