package login

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"agentctl/protocol"
)

// issuer is who signs the tokens.
const issuer = "agentctl"

// claims are what a token says.
type claims struct {
	jwt.RegisteredClaims
	Role protocol.Role `json:"role"`
}

// A Caller is who a valid token belongs to.
type Caller struct {
	By   protocol.Actor
	Role protocol.Role
}

// key makes of the server's secret one that signs tokens and nothing else.
func key(secret []byte) []byte {
	mac := hmac.New(sha256.New, secret)
	mac.Write([]byte("login tokens"))
	return mac.Sum(nil)
}

// issue makes a token of a user.
func (g *Gate) issue(name string, role protocol.Role) (string, error) {
	now := g.now()
	token := jwt.NewWithClaims(jwt.SigningMethodHS256, claims{jwt.RegisteredClaims{
		Issuer: issuer, Subject: name, IssuedAt: jwt.NewNumericDate(now), ExpiresAt: jwt.NewNumericDate(now.Add(g.life)),
	}, role})
	signed, err := token.SignedString(g.key)
	if err != nil {
		return "", fmt.Errorf("sign token: %w", err)
	}
	return signed, nil
}

// Check returns whose a token is; false when it is none of ours, forged, expired, or of a user who is gone. The role is the one
// that the user has now.
func (g *Gate) Check(token string) (Caller, bool) {
	var c claims
	_, err := jwt.ParseWithClaims(token, &c, func(*jwt.Token) (any, error) { return g.key, nil },
		jwt.WithValidMethods([]string{jwt.SigningMethodHS256.Alg()}), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(),
		jwt.WithTimeFunc(func() time.Time { return g.now() }))
	who, known := g.users[c.Subject]
	if err != nil || !known {
		return Caller{}, false
	}
	return Caller{By: protocol.Actor{Name: c.Subject, Subject: c.Subject}, Role: who.role}, true
}
