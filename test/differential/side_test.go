package differential

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// side is one of the two API servers as a sequence meets it. It is for one goroutine.
type side struct {
	client    *http.Client
	host      string
	of        *kind
	namespace string
	name      string
	called    string // the name while none is generated
	known     *identities
	uid       string
	version   string
	stale     string
}

// answer is what an API server says, without what it alone can know.
type answer struct {
	Code int
	Body any
}

func newSide(client *http.Client, host string, of *kind, namespace, name string) *side {
	return &side{client: client, host: host, of: of, namespace: namespace, name: name, called: name, known: newIdentities()}
}

// do sends an operation.
func (s *side) do(ctx context.Context, o operation) (answer, error) {
	body := o.body
	if o.onRead {
		_, read, err := s.send(ctx, http.MethodGet, s.at(o), "", nil)
		if err != nil {
			return answer{}, err
		}
		if object, is := read.(map[string]any); !is || object["kind"] == "Status" {
			read = map[string]any{}
		}
		body = merged(read, o.body)
	}
	at := s.at(o)
	if len(o.query) > 0 {
		query := url.Values{}
		for key, values := range o.query {
			query.Set(key, string(s.filled([]byte(values[0]))))
		}
		at += "?" + query.Encode()
	}
	code, read, err := s.send(ctx, o.method, at, o.kind, body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", o, err)
	}
	if o.what == byGenerateName {
		s.name = ""
	}
	s.learn(o, code, read)
	if s.name == "" {
		s.name = s.called
	}
	return answer{code, s.known.normal(read)}, nil
}

func (s *side) at(o operation) string {
	at := s.of.path(s.namespace)
	if !o.collection {
		at += "/" + s.name
	}
	if o.below != "" {
		at += "/" + o.below
	}
	return at
}

func (s *side) send(ctx context.Context, method, at, kind string, body any) (int, any, error) {
	var content io.Reader = http.NoBody
	if body != nil {
		data, err := json.Marshal(body)
		if err != nil {
			return 0, nil, fmt.Errorf("encoding: %w", err)
		}
		content = bytes.NewReader(s.filled(data))
	}
	request, err := http.NewRequestWithContext(ctx, method, s.host+at, content)
	if err != nil {
		return 0, nil, fmt.Errorf("asking: %w", err)
	}
	request.Header.Set("Accept", typeJSON)
	request.Header.Set("User-Agent", "differential/1.0")
	if kind != "" {
		request.Header.Set("Content-Type", kind)
	}
	response, err := s.client.Do(request)
	if err != nil {
		return 0, nil, fmt.Errorf("asking: %w", err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, nil, fmt.Errorf("reading the answer: %w", err)
	}
	var read any
	if err := json.Unmarshal(data, &read); err != nil {
		read = string(data)
	}
	return response.StatusCode, read, nil
}

// filled replaces the tokens.
func (s *side) filled(data []byte) []byte {
	or := func(text, otherwise string) string {
		if text == "" {
			return otherwise
		}
		return text
	}
	return []byte(strings.NewReplacer(
		tokenName, s.name, tokenNamespace, s.namespace, tokenUID, or(s.uid, "none"),
		tokenVersion, or(s.version, "7"), tokenStale, or(s.stale, "7"),
	).Replace(string(data)))
}

// learn remembers what the object is now.
func (s *side) learn(o operation, code int, read any) {
	object, is := read.(map[string]any)
	if !is || code >= http.StatusMultipleChoices || o.query.Has("dryRun") {
		return
	}
	metadata, is := object["metadata"].(map[string]any)
	if !is || object["kind"] == "Status" || metadata["name"] == nil {
		return
	}
	if name, is := metadata["name"].(string); is && s.name == "" {
		s.name = name
		s.known.name(name)
	}
	if uid, is := metadata["uid"].(string); is {
		s.uid = uid
	}
	version, is := metadata["resourceVersion"].(string)
	if !is {
		return
	}
	s.version = version
	if s.stale == "" {
		s.stale = version
	}
}
