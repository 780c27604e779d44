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

// issuer is who signs the tokens.
const issuer = "agentctl"

// MaxTokenTTL bounds how long a made token may hold.
const MaxTokenTTL = 366 * 24 * time.Hour

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims
	Role protocol.Role `json:"role"`
	Made bool          `json:"made,omitempty"` // by who has the secret, not for a password: the role is the token's
}

// A Caller is who a valid token belongs to, and until when it is valid.
type Identity struct {
	By      protocol.Actor
	Role    protocol.Role
	Expires time.Time
}

// key makes of the server's secret one that signs tokens and nothing else.
func key(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("login tokens"))
	return mac.Sum(nil)
}

// NewToken makes a token for a subject that need not be a user, with a role of its own. It holds as long as the secret stays, life at
// most; nothing takes back a single one.
func (g *Authenticator) NewToken(subject string, role protocol.Role, life time.Duration) (string, error) {
	switch {
	case subject == "" || len(subject) > maxName || !utf8.ValidString(subject):
		return "", fmt.Errorf("a subject has 1 to %d bytes of text", maxName)
	case !slices.Contains(protocol.Roles, role):
		return "", fmt.Errorf("role %q is none of %v", role, protocol.Roles)
	case life < time.Second || life > MaxTokenTTL:
		return "", fmt.Errorf("a token holds 1 second to %s, not %s", MaxTokenTTL, life)
	}
	return g.sign(claims{Role: role, Made: true}, subject, life)
}

// issue makes a token of a user.
func (g *Authenticator) issue(name string, role protocol.Role) (string, error) {
	return g.sign(claims{Role: role}, name, g.life)
}

func (g *Authenticator) sign(c claims, subject string, life time.Duration) (string, error) {
	now := g.now()
	c.RegisteredClaims = jwt.RegisteredClaims{
		Issuer: issuer, Subject: subject, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(life)),
	}
	signed, err := jwt.NewWithClaims(jwt.SigningMethodHS256, c).SignedString(g.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// maxToken bounds a token, in bytes: what is longer is none of ours.
const maxToken = 4 << 10

// Verify returns whose a token is; false when it is none of ours, forged, expired, or of a user who is gone. The role of a user is the
// one that they have now.
func (g *Authenticator) Verify(token string) (Identity, bool) {
	if len(token) > maxToken {
		return Identity{}, false
	}
	var c claims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return g.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return g.now() }))
	if err != nil {
		return Identity{}, false
	}
	who := Identity{By: protocol.Actor{Name: c.Subject, Subject: c.Subject}, Role: c.Role, Expires: c.ExpiresAt.Time}
	if !c.Made {
		user, known := g.users[c.Subject]
		if who.Role = user.role; !known {
			return Identity{}, false
		}
	}
	return who, true
}
