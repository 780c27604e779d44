package remote

// Limits of a search.
const (
	HitsPerPage = 200
	MaxHits     = 10_000 // kept by a screen
)
