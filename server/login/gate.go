package login

import (
	"encoding/json"
	"io"
	"net/http"
	"time"

	"agentctl/protocol"
)

// Path is where users log in.
const Path = "/v1/auth/login"

// Bounds of logging in.
const (
	life    = 24 * time.Hour // of a token
	maxBody = 4 << 10
	atOnce  = 2 // passwords checked; more wait
)

// A Gate lets users in. Its methods may be called from any goroutine.
type Authenticator struct {
	users  Users
	key    []byte
	life   time.Duration
	now    func() time.Time
	checks chan struct{}
}

// NewAuthenticator makes a gate for users, of whom there may be none. Their tokens hold as long as secret stays, a day at most.
func NewAuthenticator(users Users, secret []byte) *Authenticator {
	return &Authenticator{users: users, key: key(secret), life: life, now: time.Now, checks: make(chan struct{}, atOnce)}
}

// ServeHTTP gives a token for a name and a password: {"username","password"} → {"access_token","token_type":"bearer","role"}. Any
// other pair is answered 401, {"detail"}; 404 where there are no users.
func (g *Authenticator) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		refuse(w, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	if len(g.users) == 0 {
		refuse(w, http.StatusNotFound, "nobody logs in here: this server has no users")
		return
	}
	var said struct{ Username, Password string }
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil || json.Unmarshal(body, &said) != nil || said.Username == "" || said.Password == "" {
		refuse(w, http.StatusUnprocessableEntity, "username and password are required")
		return
	}
	select {
	case g.checks <- struct{}{}:
		defer func() { <-g.checks }()
	case <-r.Context().Done():
		return
	}
	role, ok := g.users.check(said.Username, said.Password)
	if !ok {
		refuse(w, http.StatusUnauthorized, "Invalid credentials")
		return
	}
	token, err := g.issue(said.Username, role)
	if err != nil {
		refuse(w, http.StatusInternalServerError, "internal error; the server's log tells more")
		return
	}
	write(w, http.StatusOK, struct {
		Token string `json:"access_token"`
		Type  string `json:"token_type"`
		Role  string `json:"role"`
	}{token, "bearer", named(role)})
}

// named is a role in the words of Multi-Agent-Intelligence, whose clients log in here: who may do all but approve is a user.
func named(r protocol.Role) string {
	if r == protocol.RoleOperator {
		return "user"
	}
	return string(r)
}

func refuse(w http.ResponseWriter, status int, detail string) {
	write(w, status, map[string]string{"detail": detail})
}

func write(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(protocol.MustEncode(v))
}
