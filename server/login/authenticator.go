package login

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"agentctl/protocol"
)

// Path is the URL path of the login endpoint.
const Path = "/v1/auth/login"

const (
	tokenTTL            = 24 * time.Hour // of a token for a password
	maxBody             = 4 << 10        // bytes
	maxConcurrentChecks = 2              // passwords checked at once; further requests wait
)

// An Authenticator logs users in and verifies tokens. Its methods may be called from any goroutine.
type Authenticator struct {
	users  Users
	key    []byte
	ttl    time.Duration
	now    func() time.Time
	checks chan struct{}
}

// NewAuthenticator returns an authenticator of users, of whom there may be none. Tokens are valid
// for the secret they were made with.
func NewAuthenticator(users Users, secret []byte) *Authenticator {
	return &Authenticator{
		users:  users,
		key:    deriveKey(secret),
		ttl:    tokenTTL,
		now:    time.Now,
		checks: make(chan struct{}, maxConcurrentChecks),
	}
}

// ServeHTTP exchanges a name and a password for a token: {"username","password"} →
// {"access_token","token_type":"bearer","role"}. Errors are {"detail"}: 401 for wrong credentials,
// 404 for a server without users, 422 for anything else, with a list of the missing fields.
func (a *Authenticator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		writeError(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	if len(a.users) == 0 {
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
	select {
	case a.checks <- struct{}{}:
		defer func() { <-a.checks }()
	case <-r.Context().Done():
		return
	}
	role, ok := a.users.check(credentials.Username, credentials.Password)
	if !ok {
		writeError(w, http.StatusUnauthorized, "Invalid credentials")
		return
	}
	token, err := a.newUserToken(credentials.Username, role)
	if err != nil {
		writeError(w, http.StatusInternalServerError, "internal error; see the server's log")
		return
	}
	writeJSON(w, http.StatusOK, struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
		Role  string `json:"role"`
	}{token, "bearer", roleName(role)})
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
