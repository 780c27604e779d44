package server

import "time"

// A rate bounds how many commands a second a connection may send; a second's worth may come at once. Owned by the connection's reader.
type rate struct {
	most float64 // a second; 0: any number
	left float64
	at   time.Time // when left was counted
}

func newRate(most int) *rate { return &rate{most: float64(most), left: float64(most), at: time.Now()} }

// take counts a command; false when it is one too many.
func (r *rate) take() bool {
	if r.most == 0 {
		return true
	}
	now := time.Now()
	r.left = min(r.most, r.left+now.Sub(r.at).Seconds()*r.most)
	r.at = now
	if r.left < 1 {
		return false
	}
	r.left--
	return true
}
