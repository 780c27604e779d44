package sqlite

// maxCached is the default number of sessions in a sessionCache: about 2 MB.
const maxCached = 16 << 10

// A sessionCache has the numbers and heads of sessions as the writer has last written them, so that
// a batch does not look them up. While a store is open only its writer changes them. After an error
// the cache is emptied: it may have what was rolled back. Guarded by the mutex of the writer.
type sessionCache struct {
	sessions map[string]cachedSession // by id
	limit    int
}

type cachedSession struct {
	n    int64
	head head
}

func newSessionCache(limit int) sessionCache {
	return sessionCache{sessions: map[string]cachedSession{}, limit: limit}
}

// put enters a session. A full cache loses another one, at random.
func (c *sessionCache) put(id string, s cachedSession) {
	if _, ok := c.sessions[id]; !ok && len(c.sessions) >= c.limit {
		for other := range c.sessions {
			delete(c.sessions, other)
			break
		}
	}
	c.sessions[id] = s
}

func (c *sessionCache) remove(id string) { delete(c.sessions, id) }

func (c *sessionCache) empty() { clear(c.sessions) }
