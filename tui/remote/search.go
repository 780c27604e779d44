package remote

// Bounds of a search.
const (
	HitsPerPage = 200
	MaxHits     = 10_000 // that a screen keeps
)
