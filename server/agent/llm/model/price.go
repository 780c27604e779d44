package model

// A Backend is a model with what is known of it.
type Backend struct {
	Model
	Window int64  // tokens of its context; 0: not known
	MaxOut int64  // tokens of a response; 0: the provider's default
	Price  *Price // nil: not known
}

// A Price is the price of a million tokens of each kind. Tokens read from a cache and written to it
// cost as input if they have no price.
type Price struct {
	Input    float64 `json:"input"`    // of tokens of requests
	Cached   float64 `json:"cached"`   // of those read from a cache; default as input
	Written  float64 `json:"written"`  // of those written to a cache; default as input
	Output   float64 `json:"output"`   // of tokens of responses
	Currency string  `json:"currency"` // of the price; default USD
}

// Cost returns the cost of a usage.
func (p *Price) Cost(u Usage) float64 {
	if p == nil {
		return 0
	}
	cached, written := p.Cached, p.Written
	if cached == 0 {
		cached = p.Input
	}
	if written == 0 {
		written = p.Input
	}
	plain := max(0, u.Input-u.Cached-u.Written)
	sum := float64(plain)*p.Input + float64(u.Cached)*cached + float64(u.Written)*written + float64(u.Output)*p.Output
	return sum / 1e6
}
