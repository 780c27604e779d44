package tool

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"agentctl/protocol"
	"agentctl/server/agent/llm"
)

type fetchArguments struct {
	URL string `json:"url" about:"of the page"`
}

// Limits of a request.
const (
	fetchTimeout   = 30 * time.Second
	fetchBytes     = 2 << 20 // of an answer
	fetchShown     = 50_000  // of a page that the model gets
	fetchRedirects = 5
)

// newFetch returns the tool that requests web pages. Its connections go to public addresses only, unless private
// ones are allowed.
func newFetch(private bool) llm.Tool {
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	if !private {
		dialer.Control = publicOnly
	}
	client := &http.Client{
		Timeout: fetchTimeout,
		Transport: &http.Transport{ // without a proxy: it would connect to any address
			DialContext: dialer.DialContext, ResponseHeaderTimeout: fetchTimeout, DisableKeepAlives: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 64 << 10, ForceAttemptHTTP2: true,
		},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if len(via) > fetchRedirects {
				return fmt.Errorf("more than %d redirects", fetchRedirects)
			}
			if err := checkURL(r.URL); err != nil {
				return err
			}
			if r.URL.Host != via[0].URL.Host { // users allowed the first one
				return fmt.Errorf("it redirects to another host: fetch %s if it is right", r.URL)
			}
			return nil
		},
	}
	return llm.NewTool(llm.Tool{
		Name: "fetch", Kind: protocol.ToolFetch, Parallel: true,
		About: "Requests a web page by its http or https URL and returns its text.",
	}, func(_ context.Context, _ *llm.ToolCall, in fetchArguments) (llm.Preview, error) {
		u, err := url.Parse(in.URL)
		if err != nil {
			return llm.Preview{}, fmt.Errorf("invalid url: %w", err)
		}
		if err := checkURL(u); err != nil {
			return llm.Preview{}, err
		}
		return llm.Preview{
			Title: "Fetch " + u.String(), Request: protocol.Approval{Kind: protocol.ApproveTool},
			Run: func(ctx context.Context, _ func(string)) (llm.ToolResult, error) {
				return fetch(ctx, client, u.String())
			},
		}, nil
	})
}

// publicOnly refuses connections to addresses that are not of the public network. It sees the
// address after the name was resolved.
func publicOnly(_, address string, _ syscall.RawConn) error {
	a, err := netip.ParseAddrPort(address)
	if err != nil || !isPublic(a.Addr()) {
		return fmt.Errorf("%s is not a public address: agents.NAME.tools.fetch_private allows it", address)
	}
	return nil
}

// reserved are the addresses of no public host that package netip has no word for.
var reserved = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("198.18.0.0/15"), netip.MustParsePrefix("240.0.0.0/4"), netip.MustParsePrefix("64:ff9b::/96"),
	netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("2001::/32"),
}

func isPublic(a netip.Addr) bool {
	a = a.Unmap()
	for _, p := range reserved {
		if p.Contains(a) {
			return false
		}
	}
	return a.IsGlobalUnicast() && !a.IsPrivate()
}

func checkURL(u *url.URL) error {
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return errors.New("only http and https URLs can be fetched")
	case u.Hostname() == "":
		return errors.New("the URL has no host")
	case u.User != nil:
		return errors.New("the URL has a user: leave it out")
	}
	return nil
}

// fetch requests a page.
func fetch(ctx context.Context, client *http.Client, address string) (llm.ToolResult, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return llm.ToolResult{}, err
	}
	r.Header.Set("User-Agent", "agentctl")
	r.Header.Set("Accept", "text/*, application/json;q=0.9, */*;q=0.1")
	answer, err := client.Do(r)
	if err != nil {
		return llm.ToolResult{}, fmt.Errorf("fetch: %w", err)
	}
	defer answer.Body.Close()
	b, err := io.ReadAll(io.LimitReader(answer.Body, fetchBytes))
	if err != nil {
		return llm.ToolResult{}, fmt.Errorf("fetch: %w", err)
	}
	text := string(b)
	if !utf8.Valid(b) {
		if !strings.HasPrefix(http.DetectContentType(b), "text/") {
			return llm.ToolResult{}, fmt.Errorf("the answer is not text: %s", answer.Header.Get("Content-Type"))
		}
		text = strings.ToValidUTF8(text, "\uFFFD")
	}
	if strings.Contains(answer.Header.Get("Content-Type"), "html") {
		text = plainText(text)
	}
	if len(text) > fetchShown {
		head, tail := cutMiddle(text, fetchShown)
		text = head + "\n[the middle was left out]\n" + tail
	}
	return llm.ToolResult{
		Text: fmt.Sprintf("%s\n\n%s", answer.Status, text), Failed: answer.StatusCode >= http.StatusBadRequest,
	}, nil
}

// htmlPatterns find markup.
type htmlPatterns struct{ hidden, block, tag, blankLines *regexp.Regexp }

// markup is compiled on first use: few programs fetch pages.
var markup = sync.OnceValue(func() htmlPatterns {
	return htmlPatterns{
		hidden: regexp.MustCompile(
			`(?is)<!--.*?-->|<script\b.*?</script\s*>|<style\b.*?</style\s*>|<svg\b.*?</svg\s*>`),
		block: regexp.MustCompile(
			`(?i)</?(p|div|br|li|tr|h[1-6]|ul|ol|table|section|article|pre|blockquote)\b[^>]*>`),
		tag:        regexp.MustCompile(`<[^>]*>`),
		blankLines: regexp.MustCompile(`[ \t\r]*\n\s*\n\s*`),
	}
})

// plainText returns the text of a page for a model, without tags. It does not parse HTML:
// broken markup stays.
func plainText(page string) string {
	m := markup()
	page = m.hidden.ReplaceAllString(page, " ")
	page = m.block.ReplaceAllString(page, "\n")
	page = html.UnescapeString(m.tag.ReplaceAllString(page, ""))
	return strings.TrimSpace(m.blankLines.ReplaceAllString(page, "\n\n"))
}
