package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/golang-jwt/jwt/v5"

	"agentctl/protocol"
)

// issuer is the issuer claim of tokens.
const issuer = "agentctl"

// MaxTokenTTL bounds the lifetime of a token from NewToken.
const MaxTokenTTL = 366 * 24 * time.Hour

// claims are the claims of a token.
type claims struct {
	jwt.RegisteredClaims
	Role protocol.Role `json:"role"`
	Made bool          `json:"made,omitempty"` // by NewToken: the role of the token counts, not that of a user
}

// An Identity is the owner of a valid token.
type Identity struct {
	By      protocol.Actor
	Role    protocol.Role
	Expires time.Time
}

// deriveKey derives the key for signing tokens from the server's secret.
func deriveKey(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("login tokens"))
	return mac.Sum(nil)
}

// NewToken returns a token with a role for a subject, which need not be a user. The lifetime is 1
// second to MaxTokenTTL. A single token cannot be revoked; a new secret revokes all.
func (a *Authenticator) NewToken(subject string, role protocol.Role, ttl time.Duration) (string, error) {
	switch {
	case subject == "" || len(subject) > maxName || !utf8.ValidString(subject):
		return "", fmt.Errorf("a subject has 1 to %d bytes of text", maxName)
	case !slices.Contains(protocol.Roles, role):
		return "", fmt.Errorf("role %q is none of %v", role, protocol.Roles)
	case ttl < time.Second || ttl > MaxTokenTTL:
		return "", fmt.Errorf("token lifetime: want 1 second to %s, not %s", MaxTokenTTL, ttl)
	}
	return a.sign(claims{Role: role, Made: true}, subject, ttl)
}

// newUserToken returns a token of a user.
func (a *Authenticator) newUserToken(name string, role protocol.Role) (string, error) {
	return a.sign(claims{Role: role}, name, a.ttl)
}

func (a *Authenticator) sign(c claims, subject string, ttl time.Duration) (string, error) {
	now := a.now()
	c.RegisteredClaims = jwt.RegisteredClaims{
		Issuer:    issuer,
		Subject:   subject,
		IssuedAt:  jwt.NewNumericDate(now),
		ExpiresAt: jwt.NewNumericDate(now.Add(ttl)),
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(a.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// maxToken bounds the bytes of a token that is parsed.
const maxToken = 4 << 10

// Verify returns the owner of a token; false when the token is foreign, forged, expired, or of a
// user who was removed. The role of a user is the current one.
func (a *Authenticator) Verify(token string) (Identity, bool) {
	if len(token) > maxToken {
		return Identity{}, false
	}
	var c claims
	_, err := jwt.ParseWithClaims(
		token,
		&c,
		func(*jwt.Token) (any, error) { return a.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}),
		jwt.WithIssuer(issuer),
		jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return a.now() }),
	)
	if err != nil {
		return Identity{}, false
	}
	id := Identity{By: protocol.Actor{Name: c.Subject, Subject: c.Subject}, Role: c.Role, Expires: c.ExpiresAt.Time}
	if !c.Made {
		user, known := a.users[c.Subject]
		if id.Role = user.role; !known {
			return Identity{}, false
		}
	}
	return id, true
}
