package hook

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Headers of a POST, from the Standard Webhooks specification.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// secretPrefix begins a secret in base64; any other secret is its bytes.
const secretPrefix = "whsec_"

// key returns the key of a secret.
func key(secret []byte) []byte {
	if encoded, ok := strings.CutPrefix(string(secret), secretPrefix); ok {
		if k, err := base64.StdEncoding.DecodeString(encoded); err == nil {
			return k
		}
	}
	return secret
}

// sign sets the headers of a POST: HMAC-SHA256 over the id, the time and the body.
func sign(h http.Header, secret []byte, id string, at time.Time, body []byte) {
	seconds := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key(secret))
	mac.Write([]byte(id + "." + seconds + "."))
	mac.Write(body)
	h.Set(headerID, id)
	h.Set(headerTimestamp, seconds)
	h.Set(headerSignature, "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
}
