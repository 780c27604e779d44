package provider

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"agentctl/internal/redact"
	"agentctl/server/agent/llm/model"
)

// keyTimeout bounds the program that prints a key.
const keyTimeout = 30 * time.Second

// Keys is where keys come from.
type Keys struct {
	Env  func(name string) string
	Base http.RoundTripper // of the requests; nil: the network
}

var variable = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`) })

// key returns the key of a provider; empty if it needs none.
func (k *Keys) key(name string, c *Config) (string, error) {
	if c.KeyCommand != nil {
		return runKeyCommand(name, c.KeyCommand)
	}
	if c.KeyEnv == "" {
		return "", nil
	}
	if key := strings.TrimSpace(k.Env(c.KeyEnv)); key != "" {
		return key, nil
	}
	return "", model.Errorf(model.Auth, "provider %s has no key: %s is not set; set it where the server starts, "+
		"or pass it with agentctl new --env", name, c.KeyEnv)
}

// runKeyCommand returns the output of a program. Its error output is discarded: it may have
// secrets.
func runKeyCommand(name string, command []string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), keyTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	key := strings.TrimSpace(string(out))
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("no key within %s", keyTimeout)
	case err == nil && key == "":
		err = errors.New("it printed nothing")
	case err == nil && strings.ContainsAny(key, "\r\n"):
		err = errors.New("it printed several lines")
	}
	if err != nil {
		return "", model.Errorf(model.Auth, "provider %s has no key: key_command %s: %v", name, command[0], err)
	}
	return key, nil
}

// minSecret is the length from which the value of a header may be a secret.
const minSecret = 16

// headers returns the headers with their variables, and the values that may be secrets.
func (k *Keys) headers(name string, c *Config) (headers map[string]string, secrets []string, err error) {
	headers = map[string]string{}
	for header, value := range c.Headers {
		headers[header] = variable().ReplaceAllStringFunc(value, func(ref string) string {
			v := k.Env(ref[len("${") : len(ref)-len("}")])
			if v == "" && err == nil {
				err = model.Errorf(model.Auth, "provider %s: header %s: %s is not set", name, header, ref)
			}
			secrets = append(secrets, v)
			return v
		})
		if v := headers[header]; len(v) >= minSecret {
			secrets = append(secrets, v)
		}
	}
	return headers, secrets, err
}

// Ready returns nil if the key of a provider is there, without running a program. The error names
// what is missing.
func (s Set) Ready(name string, env func(string) string) error {
	c, err := s.require(name)
	switch {
	case err != nil:
		return err
	case c.KeyCommand != nil:
		if _, err := exec.LookPath(c.KeyCommand[0]); err != nil {
			return fmt.Errorf("key_command: %w", err)
		}
		return nil
	case c.KeyEnv != "" && strings.TrimSpace(env(c.KeyEnv)) == "":
		return fmt.Errorf("%s is not set: set it where the server starts", c.KeyEnv)
	}
	return nil
}

// ShortKey reports whether the key of a provider is a variable too short to be hidden in errors and logs.
func (s Set) ShortKey(name string, env func(string) string) bool {
	c, _ := s.Find(name)
	key := ""
	if c.KeyEnv != "" {
		key = strings.TrimSpace(env(c.KeyEnv))
	}
	return key != "" && len(key) < redact.MinValue
}

// KeySource describes where the key of a provider comes from, for people.
func (s Set) KeySource(name string) string {
	c, _ := s.Find(name)
	switch {
	case c.KeyCommand != nil:
		return "key_command " + c.KeyCommand[0]
	case c.KeyEnv != "":
		return c.KeyEnv
	}
	return "none needed"
}

// Environment returns a lookup in the variables of a session, then in the server's.
func Environment(session map[string]string) func(string) string {
	return func(name string) string {
		if v, ok := session[name]; ok {
			return v
		}
		return os.Getenv(name)
	}
}
