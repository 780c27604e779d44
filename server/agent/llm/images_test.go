package llm

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"agentctl/internal/dev/fakemodel"
	"agentctl/protocol"
	"agentctl/server/agent"
	"agentctl/server/agent/llm/model"
	"agentctl/server/agent/llm/provider"
)

// noisyPNG returns a PNG that does not compress: three bytes a pixel.
func noisyPNG(t *testing.T, width, height int) []byte {
	t.Helper()
	m := image.NewNRGBA(image.Rect(0, 0, width, height))
	for i := range m.Pix {
		if m.Pix[i] = byte(rand.IntN(256)); i%4 == 3 {
			m.Pix[i] = 0xff
		}
	}
	var out bytes.Buffer
	encoder := png.Encoder{CompressionLevel: png.NoCompression} // noise has none
	if err := encoder.Encode(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// camera is a tool that returns an image for each call, whose name is its argument.
func camera(images map[string][]byte) *fakeTool {
	return &fakeTool{name: "shot", kind: protocol.ToolRead, safe: true, run: func(
		_ context.Context, c *ToolCall, _ func(string),
	) (ToolResult, error) {
		name := strings.Trim(strings.TrimPrefix(string(c.Input), `{"x":`), `"}`)
		return ToolResult{
			Text:  fmt.Sprintf("image/png, %d bytes", len(images[name])),
			Files: []model.File{{Name: name, MediaType: "image/png", Data: images[name]}},
		}, nil
	}}
}

// shoot is a model that takes the images, one after the other, and then says ok.
func shoot(names ...string) fakemodel.Script {
	return func(_ context.Context, r fakemodel.Request, out *fakemodel.Reply) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == fakemodel.Tool {
				n++
			}
		}
		if n < len(names) {
			out.Call("shot", x(names[n]))
			return
		}
		out.Text("ok")
	}
}

// sees reports whether a request has an image.
func sees(r *fakemodel.Request, data []byte) bool {
	return bytes.Contains(r.Body, []byte(base64.StdEncoding.EncodeToString(data)))
}

// newImageRig returns a rig whose model has room for all images: the fake model counts their bytes.
func newImageRig(t *testing.T, api, name string, script fakemodel.Script, tools ...toolMaker) *rig {
	t.Helper()
	r := newRig(t, api, name, script, tools...)
	r.set["test"].Models[name] = provider.ModelConfig{Window: 100 << 20}
	r.checksFiles = true
	return r
}

// stored returns the bytes of the only blob.
func (r *rig) stored(t *testing.T) []byte {
	t.Helper()
	if len(r.blobs) != 1 {
		t.Fatalf("%d blobs", len(r.blobs))
	}
	for _, b := range r.blobs {
		return b.Data
	}
	return nil
}

func TestFilesOfAMessageReachTheModel(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r, small := newRig(t, api, name, fakemodel.Say("ok")), noisyPNG(t, 8, 8)
		turn := agent.Turn{ID: "t1", Message: protocol.Message{Text: "look", Parts: []protocol.Part{
			{Type: "image", Name: "p.png", URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(small)},
			{Type: "file", Name: "notes.txt", Text: "content of the notes"},
			{Type: "file", Name: "broken", URL: "data:image/png;base64,???"},
			{Type: "image", Name: "v.svg", URL: "data:image/svg+xml;base64,PHN2Zz4="},
		}}}
		if _, err := r.agent.Run(t.Context(), turn, r.recorder); err != nil {
			t.Fatal(err)
		}
		body := string(r.fake.Requests()[0].Body)
		if !strings.Contains(body, base64.StdEncoding.EncodeToString(small)) || !strings.Contains(body, "content of the notes") {
			t.Errorf("%s", body)
		}
		if !strings.Contains(body, "[broken was left out") || !strings.Contains(body, "[v.svg was left out") {
			t.Errorf("the model is not told: %s", body)
		}
		if !strings.Contains(r.lines(), "left out: broken, v.svg (not a PNG") {
			t.Errorf("%s", r.lines())
		}
	})
}

// The model sees all images of a conversation in every request, also after a restart. The stored state
// does not have their bytes.
func TestTheModelSeesEarlierImages(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		images := map[string][]byte{"a.png": noisyPNG(t, 100, 100), "b.png": noisyPNG(t, 100, 100)}
		r := newImageRig(t, api, name, shoot("a.png", "b.png"), camera(images))
		if _, err := r.send(t.Context(), "look"); err != nil {
			t.Fatal(err)
		}
		r.open(r.state)
		if _, err := r.send(t.Context(), "again"); err != nil {
			t.Fatal(err)
		}
		sent := r.fake.Requests()
		if len(sent) != 4 {
			t.Fatalf("%d requests", len(sent))
		}
		for i, want := range [][2]bool{{}, {true, false}, {true, true}, {true, true}} {
			if got := [2]bool{sees(&sent[i], images["a.png"]), sees(&sent[i], images["b.png"])}; got != want {
				t.Errorf("request %d has %v", i, got)
			}
		}
		if len(r.state) > 8<<10 || len(r.missing) > 0 || strings.Contains(r.lines(), "notice") {
			t.Errorf("the state has %d bytes, its blobs lack %q\n%s", len(r.state), r.missing, r.lines())
		}
	})
}

// An image that is larger than what models take is scaled down, from a tool as from a user.
func TestLargeImagesAreScaledDown(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		large := noisyPNG(t, 20, 20)
		if api == provider.Chat { // scaling does not depend on the API, and takes long
			large = noisyPNG(t, 600, 600)
		}
		r := newImageRig(t, api, name, shoot("a.png"), camera(map[string][]byte{"a.png": large}))
		if end, err := r.send(t.Context(), "look"); err != nil || end.Reason != protocol.ReasonCompleted {
			t.Fatal(end, err)
		}
		if got := r.stored(t); len(got) > imageBound.Bytes || !sees(&r.fake.Requests()[1], got) {
			t.Errorf("an image of %d bytes", len(got))
		}
		wide := noisyPNG(t, 3000, 20)
		turn := agent.Turn{ID: "u1", Message: protocol.Message{Parts: []protocol.Part{
			{Type: "image", Name: "wide.png", URL: "data:image/png;base64," + base64.StdEncoding.EncodeToString(wide)},
		}}}
		r = newImageRig(t, api, name, fakemodel.Say("ok"))
		if _, err := r.agent.Run(t.Context(), turn, r.recorder); err != nil {
			t.Fatal(err)
		}
		got := r.stored(t)
		c, _, err := image.DecodeConfig(bytes.NewReader(got))
		if err != nil || c.Width != imageBound.Side || !sees(&r.fake.Requests()[0], got) {
			t.Errorf("%d pixels, %v", c.Width, err)
		}
	})
}

// The model and the user are told of an image that is refused, the user once.
func TestAnImageThatIsRefusedIsReported(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		huge := bytes.Clone(noisyPNG(t, 2, 2))
		copy(huge[16:], []byte{0, 0, 0xff, 0xff, 0, 0, 0xff, 0xff}) // the size in its header
		r := newImageRig(t, api, name, shoot("a.png"), camera(map[string][]byte{"a.png": huge}))
		for range 2 {
			if end, err := r.send(t.Context(), "look"); err != nil || end.Reason != protocol.ReasonCompleted {
				t.Fatal(end, err)
			}
		}
		if last := r.fake.Requests()[2]; !strings.Contains(string(last.Body), "[a.png was left out") {
			t.Errorf("%s", last.Body)
		}
		if n := strings.Count(r.lines(), "left out: a.png ("); n != 1 || len(r.blobs) != 0 {
			t.Errorf("%d notices, %d blobs\n%s", n, len(r.blobs), r.lines())
		}
	})
}

// Beyond the space of a request the oldest images are left out, with a note and one notice. Requests
// after it begin like it.
func TestTheOldestImagesAreLeftOutOfAFullConversation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newImageRig(t, "anthropic", "claude-sonnet-5-5", fakemodel.Say("ok"))
		s := state{Format: stateFormat}
		const n = maxFileCount + 1
		var names []string
		for i := range n {
			f := &model.File{Name: fmt.Sprintf("%d.png", i), MediaType: "image/png", Data: []byte(noise(100))}
			s.add(model.Message{Role: model.User, Parts: []model.Part{{Type: model.FilePart, File: f}}})
			s.add(model.Texts(model.Assistant, "seen"))
			names = append(names, f.Name)
		}
		b, err := s.plain() // of a version that had images in the state
		if err != nil {
			t.Fatal(err)
		}
		r.open(b)
		for range 3 {
			if _, err := r.send(t.Context(), "look"); err != nil {
				t.Fatal(err)
			}
		}
		dropped := n - maxFileCount*3/4
		for _, sent := range r.fake.Requests() {
			for i, name := range names {
				if noted := strings.Contains(string(sent.Body), "["+name+" was left out"); noted != (i < dropped) {
					t.Errorf("%s: %v", name, noted)
				}
			}
			if got := strings.Count(string(sent.Body), `"type":"image"`); got != n-dropped {
				t.Errorf("%d images", got)
			}
		}
		if got := strings.Count(r.lines(), "does not see older files any more: 0.png, 1.png"); got != 1 {
			t.Errorf("%d notices\n%s", got, r.lines())
		}
	})
}

func TestTheBytesOfFilesAreBounded(t *testing.T) {
	var s state
	for i := range maxFileBytes>>20 + 1 {
		f := &model.File{Name: fmt.Sprint(i), Blob: fmt.Sprint(i), Bytes: 1 << 20}
		if left := s.boundFiles(); left != nil {
			t.Errorf("after %d files %q are left out", i, left)
		}
		s.add(model.Message{Role: model.User, Parts: []model.Part{{Type: model.FilePart, File: f}}})
	}
	if got := s.boundFiles(); !slices.Equal(got, []string{"0", "1", "2", "3"}) {
		t.Errorf("left out: %q", got)
	}
}

// A blob that is lost ends no session: the model and the user are told once.
func TestALostImageIsReportedOnce(t *testing.T) {
	each(t, func(t *testing.T, api, name string) {
		r := newImageRig(t, api, name, shoot("a.png"), camera(map[string][]byte{"a.png": noisyPNG(t, 8, 8)}))
		if _, err := r.send(t.Context(), "look"); err != nil {
			t.Fatal(err)
		}
		r.blobs = nil
		r.open(r.state)
		for range 2 {
			if _, err := r.send(t.Context(), "again"); err != nil {
				t.Fatal(err)
			}
		}
		last := r.fake.Requests()[3]
		if !strings.Contains(string(last.Body), "[a.png was left out: it is lost]") {
			t.Errorf("%s", last.Body)
		}
		if n := strings.Count(r.lines(), "lost, and not sent to the model: a.png"); n != 1 {
			t.Errorf("%d notices\n%s", n, r.lines())
		}
	})
}

// A fork gets the blobs of its part of the conversation.
func TestAForkHasItsImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images := map[string][]byte{"a.png": noisyPNG(t, 250, 250), "b.png": noisyPNG(t, 100, 100)}
		r := newImageRig(t, "anthropic", "claude-sonnet-5-5", shoot("a.png", "b.png"), camera(images))
		r.send1(t, "look")
		forked, blobs, err := r.agent.Fork(t.Context(), "t1")
		if err != nil || len(blobs) != 2 {
			t.Fatalf("%d blobs, %v", len(blobs), err)
		}
		r.blobs = nil
		for _, b := range blobs {
			if err := r.SaveBlob(b); err != nil {
				t.Fatal(err)
			}
		}
		r.open(forked)
		r.send1(t, "again")
		for name, data := range images {
			if last := r.fake.Requests()[3]; !sees(&last, data) {
				t.Errorf("the fork lacks %s", name)
			}
		}
	})
}

// An exported state has the newest images itself, smaller if they are too large for a message.
func TestAnExportedStateHasTheNewestImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		images, names := map[string][]byte{}, []string(nil)
		for i := range maxExported + 1 {
			name := fmt.Sprintf("%d.png", i)
			images[name], names = noisyPNG(t, 20, 20), append(names, name)
		}
		images["1.png"] = noisyPNG(t, 150, 150)
		r := newImageRig(t, "anthropic", "claude-sonnet-5-5", shoot(names...), camera(images))
		r.send1(t, "look")
		exported, err := r.agent.Export(t.Context())
		if err != nil || len(exported) > 2*maxExportedBytes {
			t.Fatalf("%d bytes, %v", len(exported), err)
		}
		if !strings.Contains(r.lines(), "not in the exported state: 0.png\n") {
			t.Error(r.lines())
		}
		r.blobs, r.missing = nil, nil
		r.open(exported)
		r.send1(t, "again")
		last := r.fake.Requests()[len(r.fake.Requests())-1]
		if n := strings.Count(string(last.Body), `"type":"image"`); n != maxExported || sees(&last, images["1.png"]) ||
			!sees(&last, images["2.png"]) || !strings.Contains(string(last.Body), "[0.png was left out") {
			t.Errorf("%d images", n)
		}
		if len(r.missing) > 0 || len(r.state) > 64<<10 {
			t.Errorf("missing: %q; the state has %d bytes", r.missing, len(r.state))
		}
	})
}

// send1 runs a turn that must not fail.
func (r *rig) send1(t *testing.T, text string) {
	t.Helper()
	if end, err := r.send(t.Context(), text); err != nil || end.Reason != protocol.ReasonCompleted {
		t.Fatal(end, err)
	}
}

// A sub-agent sees the images of its calls.
func TestATaskSeesItsImages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data := noisyPNG(t, 30, 30)
		r := newImageRig(t, "anthropic", "claude-sonnet-5-5", byAgent(fakemodel.Turns(
			func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) {
				out.Call("task", task("look", "Look."))
			}, func(_ context.Context, _ fakemodel.Request, out *fakemodel.Reply) { out.Text("done") }),
			shoot("a.png")), camera(map[string][]byte{"a.png": data}))
		r.send1(t, "go")
		sent := r.fake.Requests()
		if len(sent) != 4 || !sees(&sent[2], data) {
			t.Errorf("%d requests", len(sent))
		}
	})
}
