package login

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"

	"agentctl/protocol"
)

// Path is the URL path of the login endpoint.
const Path = "/v1/auth/login"

const (
	tokenTTL = 24 * time.Hour // of a token for a password
	maxBody  = 4 << 10        // bytes
)

// An Authenticator logs users in and verifies tokens. Its methods may be called from any goroutine.
type Authenticator struct {
	ttl        time.Duration
	now        func() time.Time
	throttle   *throttle
	recognizer *recognizer

	mu      sync.Mutex // guards the fields below; held briefly
	current *policy
	watches map[*watch]bool
}

// NewAuthenticator returns an authenticator of users; there may be none. Tokens are valid for the
// keys they were made with.
func NewAuthenticator(users Users, keys Keys) *Authenticator {
	return &Authenticator{
		ttl:        tokenTTL,
		now:        time.Now,
		throttle:   newThrottle(),
		recognizer: newRecognizer(),
		current:    &policy{users: users, keys: keys},
		watches:    map[*watch]bool{},
	}
}

// ServeHTTP exchanges a name and a password for a token: {"username","password"} →
// {"access_token","token_type":"bearer","role"}. Errors are {"detail"}: 401 for wrong credentials,
// 404 for a server without users, 429 while too many wrong passwords are pending, 422 for anything
// else, with a list of the missing fields. An answer to a wrong password is delayed, longer with
// each failure for the name or from the address.
func (a *Authenticator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	users := a.policy().users
	if len(users) == 0 {
		writeError(w, http.StatusNotFound, "login is disabled: this server has no users")
		return
	}
	var credentials struct{ Username, Password string }
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(body, &credentials) != nil {
		writeError(w, http.StatusUnprocessableEntity, "a JSON object with username and password is required")
		return
	}
	if missing := missingFields(credentials.Username, credentials.Password); missing != nil {
		writeJSON(w, http.StatusUnprocessableEntity, map[string][]invalidField{"detail": missing})
		return
	}
	user := users[credentials.Username] // the zero user if the name is unknown
	tag := a.recognizer.tag(user, credentials.Password)
	attempt := attempt{
		name: credentials.Username, address: addressOf(r),
		recognized: a.recognizer.recognizes(credentials.Username, tag),
	}
	ok, err := a.throttle.do(r.Context(), attempt, func() bool {
		return users.check(credentials.Username, credentials.Password)
	})
	switch {
	case errors.Is(err, errBusy):
		w.Header().Set("Retry-After", "5")
		writeError(w, http.StatusTooManyRequests, errBusy.Error())
		return
	case err != nil:
		return // the client has disconnected
	case !ok:
		writeError(w, http.StatusUnauthorized, "Invalid credentials")
		return
	}
	a.recognizer.remember(credentials.Username, tag)
	token, err := a.sign(claims{Role: user.role, Password: user.password.version()}, credentials.Username, a.ttl)
	if err != nil {
		writeError(w, http.StatusInternalServerError, "internal error; see the server's log")
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
		Role  string `json:"role"`
	}{token.Signed, "bearer", roleName(user.role)})
}

// An invalidField is an error about a field of the request, in the form of
// Multi-Agent-Intelligence. Input is the request without its password.
type invalidField struct {
	Type  string            `json:"type"`
	Path  []string          `json:"loc"`
	Text  string            `json:"msg"`
	Input map[string]string `json:"input"`
}

func missingFields(username, password string) (missing []invalidField) {
	input := map[string]string{}
	if username != "" {
		input["username"] = username
	}
	for _, field := range []struct{ name, value string }{{"username", username}, {"password", password}} {
		if field.value == "" {
			missing = append(missing, invalidField{"missing", []string{"body", field.name}, "Field required", input})
		}
	}
	return missing
}

// roleName returns the name of a role in Multi-Agent-Intelligence, whose clients use this endpoint.
func roleName(r protocol.Role) string {
	if r == protocol.RoleOperator {
		return "user"
	}
	return string(r)
}

func writeError(w http.ResponseWriter, status int, detail string) {
	writeJSON(w, status, map[string]string{"detail": detail})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(protocol.MustEncode(v))
}
