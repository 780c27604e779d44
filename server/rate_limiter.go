package server

import (
	"time"

	"agentctl/protocol"
)

// A rateLimiter bounds the commands per second of a connection; a burst of one second's worth is
// allowed. Owned by the connection's reader.
type rateLimiter struct {
	rate      float64 // per second; 0: unlimited
	tokens    float64
	updatedAt time.Time // of tokens
}

func newRateLimiter(rate int) *rateLimiter {
	return &rateLimiter{rate: float64(rate), tokens: float64(rate), updatedAt: time.Now()}
}

// allow counts a command. It returns false for one over the limit.
func (r *rateLimiter) allow() bool {
	if r.rate == 0 {
		return true
	}
	now := time.Now()
	r.tokens = min(r.rate, r.tokens+now.Sub(r.updatedAt).Seconds()*r.rate)
	r.updatedAt = now
	if r.tokens < 1 {
		return false
	}
	r.tokens--
	return true
}

// refusal returns the error for a command over the limit.
func (r *rateLimiter) refusal() error {
	return protocol.Exceeded(protocol.CodeTooMany, int64(r.rate), "too many commands a second")
}
