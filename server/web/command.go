package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"agentctl/protocol"
)

// KeyHeader holds the key of a command, which makes it idempotent.
const KeyHeader = "Idempotency-Key"

// command runs the command of a route and answers with its result.
func (a *api) command(w http.ResponseWriter, r *http.Request, route *Route) error {
	result, err := a.run(w, r, route)
	if err != nil {
		return err
	}
	status := http.StatusOK
	if route.Status == http.StatusCreated {
		status = http.StatusCreated
		var created protocol.CreateResult
		if json.Unmarshal(result, &created) == nil {
			w.Header().Set("Location", "/api/sessions/"+url.PathEscape(created.Session))
		}
	}
	write(w, status, result)
	return nil
}

// run decodes the command of a request and runs it.
func (a *api) run(w http.ResponseWriter, r *http.Request, route *Route) (json.RawMessage, error) {
	cmd, err := a.decode(w, r, route)
	if err != nil {
		return nil, err
	}
	return a.Commands.Do(r, cmd)
}

// decode returns the command of a request, decoded as strictly as one of a connection.
func (a *api) decode(w http.ResponseWriter, r *http.Request, route *Route) (*protocol.Command, error) {
	if !utf8.ValidString(r.URL.Path) {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "the path is not valid UTF-8")
	}
	cmd := protocol.Command{Command: route.Verb, Session: r.PathValue("id")}
	var err error
	if cmd.Key, err = key(r); err != nil {
		return nil, err
	}
	sent, err := a.readBody(w, r)
	if err != nil {
		return nil, err
	}
	query, err := route.query(r)
	if err != nil {
		return nil, err
	}
	if sent != nil && route.Query {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "this request takes no body")
	}
	if cmd.Data, err = route.data(r, query, sent); err != nil {
		return nil, err
	}
	checked, err := protocol.DecodeCommand(protocol.MustEncode(cmd))
	return &checked, err
}

func key(r *http.Request) (string, error) {
	keys := r.Header.Values(KeyHeader)
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1, keys[0] == "", !utf8.ValidString(keys[0]):
		return "", protocol.Errorf(protocol.CodeInvalidMessage, "%s: want one key", KeyHeader)
	}
	return keys[0], nil
}

// readBody returns the JSON object of the request's body, or nil without one.
func (a *api) readBody(w http.ResponseWriter, r *http.Request) (json.RawMessage, error) {
	limit := a.MaxBody()
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, &protocol.Error{
			Code: protocol.CodeTooLarge, Limit: limit,
			Message: "a request has at most " + strconv.FormatInt(limit, 10) + " bytes",
		}
	case err != nil:
		return nil, &requestError{
			protocol.Errorf(protocol.CodeTimeout, "the body of the request did not arrive"), http.StatusRequestTimeout,
		}
	case len(b) == 0:
		return nil, nil
	}
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != "application/json" {
		return nil, &requestError{
			protocol.Errorf(protocol.CodeInvalidMessage, "Content-Type: want application/json"),
			http.StatusUnsupportedMediaType,
		}
	}
	switch {
	case !utf8.Valid(b):
		return nil, protocol.Errorf(protocol.CodeInvalidJSON, "not valid UTF-8")
	case !json.Valid(b):
		return nil, protocol.Errorf(protocol.CodeInvalidJSON, "not a JSON object")
	case bytes.TrimSpace(b)[0] != '{':
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "not a JSON object")
	}
	return b, nil
}

// query checks the query of a request and returns it. An unknown or repeated name is an error.
func (route *Route) query(r *http.Request) (url.Values, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "malformed query")
	}
	var fields map[string]reflect.StructField
	if route.Query {
		fields = route.Fields()
	}
	for name, list := range values {
		_, field := fields[name]
		param := slices.ContainsFunc(route.Params, func(p Parameter) bool { return p.Name == name && !p.Header })
		switch {
		case !field && !param && name != "token": // the credential, which package server has read
			return nil, protocol.Errorf(protocol.CodeInvalidMessage, "unknown parameter %.80q", name)
		case len(list) > 1:
			return nil, protocol.Errorf(protocol.CodeInvalidMessage, "%s: more than one value", name)
		}
	}
	return values, nil
}

// data returns the command's data: wildcards of the path, fixed fields, and the query or the body.
func (route *Route) data(r *http.Request, query url.Values, sent json.RawMessage) (json.RawMessage, error) {
	fields := map[string]json.RawMessage{}
	for _, name := range route.Wildcards() {
		if name != "id" {
			fields[name] = protocol.MustEncode(r.PathValue(name))
		}
	}
	for name, value := range route.Fixed {
		fields[name] = json.RawMessage(value)
	}
	types := route.Fields()
	for name, list := range query {
		if f, ok := types[name]; ok && route.Query {
			value, err := queryValue(name, list[0], f.Type.Kind())
			if err != nil {
				return nil, err
			}
			fields[name] = value
		}
	}
	if len(fields) == 0 {
		return sent, nil
	}
	if sent != nil {
		var body map[string]json.RawMessage
		if err := protocol.DecodeStrict(sent, &body); err != nil {
			return nil, err
		}
		for name, value := range body {
			if fields[name] != nil {
				return nil, protocol.Errorf(protocol.CodeInvalidMessage,
					"%s: the path sets this field: leave it out", name)
			}
			fields[name] = value
		}
	}
	return protocol.MustEncode(fields), nil
}

// queryValue returns a value of the query as JSON.
func queryValue(name, value string, kind reflect.Kind) (json.RawMessage, error) {
	var v any = value
	var err error
	want := "a whole number, 0 or more"
	switch kind {
	case reflect.String:
		if !utf8.ValidString(value) {
			return nil, protocol.Errorf(protocol.CodeInvalidMessage, "%s: not valid UTF-8", name)
		}
	case reflect.Bool:
		want = "true or false"
		v, err = strconv.ParseBool(value)
	case reflect.Uint64:
		v, err = strconv.ParseUint(value, 10, 64)
	default:
		want = "a whole number"
		v, err = strconv.ParseInt(value, 10, 64)
	}
	if err != nil {
		return nil, protocol.Errorf(protocol.CodeInvalidMessage, "%s: %.80q is not %s", name, value, want)
	}
	return protocol.MustEncode(v), nil
}
