package differential

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// show is one of the two API servers as the watches of a history meet it. It is for one goroutine.
type show struct {
	client  *http.Client
	host    string
	of      history
	spaces  []string
	known   *identities
	sides   map[spot]*side
	listed  map[int]string // the versions of lists before turns
	written map[int]string // the versions that were answered last before turns
	version string         // the last that was answered
	watches []*watch
}

func newShow(client *http.Client, host string, h history, spaces []string) *show {
	return &show{
		client: client, host: host, of: h, spaces: spaces, known: newIdentities(), sides: map[spot]*side{},
		listed: map[int]string{}, written: map[int]string{}, watches: make([]*watch, len(h.watches)),
	}
}

// side is where an object is.
func (s *show) side(at spot) *side {
	if s.sides[at] == nil {
		s.sides[at] = newSide(s.client, s.host, s.of.of, s.spaces[at.space], at.name)
		s.sides[at].known = s.known
	}
	return s.sides[at]
}

func (s *show) do(ctx context.Context, t turn) (answer, error) {
	side := s.side(t.spot)
	before := side.version
	out, err := side.do(ctx, t.operation)
	if side.version != before {
		s.version = side.version
	}
	return out, err
}

// finish has each watch shown what it is to be shown last, and begins those that end by themselves.
func (s *show) finish(ctx context.Context) error {
	end := len(s.of.turns)
	if err := s.open(ctx, end); err != nil {
		return err
	}
	for i, w := range s.of.watches {
		if w.last == nil {
			continue
		}
		body := map[string]any{
			"apiVersion": s.of.of.apiVersion(), "kind": s.of.of.Kind,
			"metadata": map[string]any{"name": w.last.name, "labels": w.last.labels, "annotations": map[string]any{noteOfLast: s.note(i)}},
		}
		if s.of.of.custom {
			body["spec"] = map[string]any{"color": w.last.color}
		}
		if err := s.must(ctx, s.side(w.last.spot), operation{
			method: http.MethodPatch, kind: typeApply, query: url.Values{"fieldManager": {"last"}, "force": {"true"}}, body: body,
		}); err != nil {
			return err
		}
	}
	if err := s.open(ctx, end+1); err != nil || s.listed[end+1] == "" {
		return err
	}
	// A real API server sends no bookmark where nothing has happened at all, be it elsewhere.
	elsewhere := newSide(s.client, s.host, s.of.of, "default", "beside-"+s.spaces[0])
	body := map[string]any{"apiVersion": s.of.of.apiVersion(), "kind": s.of.of.Kind, "metadata": map[string]any{"name": tokenName}, "spec": map[string]any{}}
	if !s.of.of.custom {
		delete(body, "spec")
	}
	return errors.Join(
		s.must(ctx, elsewhere, operation{method: http.MethodPost, collection: true, kind: typeJSON, body: body}),
		s.must(ctx, elsewhere, operation{method: http.MethodDelete}),
	)
}

// must does what no API server refuses.
func (s *show) must(ctx context.Context, side *side, o operation) error {
	a, err := side.do(ctx, o)
	if err == nil && a.Code >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %d %s", o, a.Code, shown(a.Body))
	}
	return err
}

// clear removes all objects of the history.
func (s *show) clear(ctx context.Context) error {
	for _, side := range s.sides {
		free := operation{method: http.MethodPatch, kind: typeMerge, body: map[string]any{"metadata": map[string]any{"finalizers": nil}}}
		for _, o := range []operation{free, {method: http.MethodDelete}} {
			if a, err := side.do(ctx, o); err != nil || a.Code >= http.StatusMultipleChoices && a.Code != http.StatusNotFound {
				return fmt.Errorf("%s: %d %s %w", o, a.Code, shown(a.Body), err)
			}
		}
	}
	return nil
}

// close ends the watches.
func (s *show) close() {
	for _, w := range s.watches {
		if w != nil {
			w.cancel()
			<-w.done
		}
	}
}

// open begins the watches that begin before a turn, and notes the version that others need.
func (s *show) open(ctx context.Context, at int) error {
	if !slices.ContainsFunc(s.of.watches, func(w watching) bool { return w.opened == at || w.since == at }) {
		return nil
	}
	s.written[at] = s.version
	if err := s.list(ctx, at); err != nil {
		return err
	}
	for i, w := range s.of.watches {
		if w.opened == at {
			if err := s.watch(ctx, i, w); err != nil {
				return fmt.Errorf("%s: %w", w, err)
			}
		}
	}
	return nil
}

// list notes the version of a list. After it, a real API server shows a watch no less than what was listed.
func (s *show) list(ctx context.Context, at int) error {
	first := s.side(spots()[0])
	code, read, err := first.send(ctx, http.MethodGet, first.at(operation{collection: true}), "", nil)
	if err != nil {
		return err
	}
	object, _ := read.(map[string]any)
	version, found := metadataOf(object)["resourceVersion"].(string)
	if code != http.StatusOK || !found {
		return fmt.Errorf("listing: %d %v", code, read)
	}
	s.listed[at] = version
	return nil
}

// noteOfLast is the annotation of what a watch is shown last.
const noteOfLast = "last"

// note is its value for a watch. There is no other such of any history.
func (s *show) note(watch int) string { return fmt.Sprint(s.spaces[0], "-", watch) }

// watch is one that has begun.
type watch struct {
	answer answer
	listed uint64 // the version of a list before it began
	events []event
	ended  string // how, after done is closed
	done   chan struct{}
	cancel context.CancelFunc
}

// event is what a watch shows.
type event struct {
	Type   string
	Object map[string]any
}

// watch begins a watch, of which all is read until it ends or until it has shown what it has to.
func (s *show) watch(ctx context.Context, i int, w watching) error {
	ctx, cancel := context.WithCancel(ctx)
	out := &watch{listed: versionOf(s.listed[w.opened]), done: make(chan struct{}), cancel: cancel}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.host+s.path(w), http.NoBody)
	if err != nil {
		cancel()
		return fmt.Errorf("asking: %w", err)
	}
	request.Header.Set("Accept", typeJSON)
	if w.metadata {
		request.Header.Set("Accept", typeJSON+";as=PartialObjectMetadata;g=meta.k8s.io;v=v1")
	}
	response, err := s.client.Do(request)
	if err != nil {
		cancel()
		return fmt.Errorf("asking: %w", err)
	}
	s.watches[i] = out
	out.answer = answer{Code: response.StatusCode, Body: map[string]any{"type": response.Header.Get("Content-Type")}}
	if response.StatusCode == http.StatusOK {
		go out.read(ctx, response.Body, s.note(i))
		return nil
	}
	defer close(out.done)
	defer response.Body.Close()
	var object map[string]any
	data, err := io.ReadAll(response.Body)
	if err = errors.Join(err, json.Unmarshal(data, &object)); err != nil {
		return fmt.Errorf("reading the answer: %w", err)
	}
	out.answer.Body = s.known.copy().refusal(object)
	return nil
}

// path is that of a watch, with its query.
func (s *show) path(w watching) string {
	space := "/"
	if w.space != everywhere {
		space = "/namespaces/" + s.spaces[w.space] + "/"
	}
	group, resource, _ := strings.Cut(w.of.path(""), "/namespaces//")
	query := url.Values{"watch": {"true"}}
	if w.old {
		space = "/watch" + space
		query.Del("watch")
	}
	filled := strings.NewReplacer(
		spaceToken(0), s.spaces[0], spaceToken(1), s.spaces[1], tokenListed, s.listed[w.since], tokenWritten, cmp.Or(s.written[w.since], s.listed[w.since]),
	)
	for key, values := range w.query {
		query.Set(key, filled.Replace(values[0]))
	}
	return group + space + resource + "?" + query.Encode()
}

// read reads what is shown until it has the note.
func (w *watch) read(ctx context.Context, body io.ReadCloser, note string) {
	defer close(w.done)
	defer w.cancel()
	defer body.Close() //nolint:errcheck // It is only read.
	decoder := json.NewDecoder(body)
	for {
		var e event
		if err := decoder.Decode(&e); err != nil {
			w.ended = "it ended"
			if ctx.Err() != nil {
				w.ended = "no more came"
			} else if !errors.Is(err, io.EOF) {
				w.ended = err.Error()
			}
			return
		}
		w.events = append(w.events, e)
		annotations, _ := metadataOf(e.Object)["annotations"].(map[string]any)
		if annotations[noteOfLast] == note {
			return
		}
	}
}

func metadataOf(object map[string]any) map[string]any {
	metadata, _ := object["metadata"].(map[string]any)
	return metadata
}

// versionOf is zero of what is no version.
func versionOf(text any) uint64 {
	version, err := strconv.ParseUint(fmt.Sprint(text), 10, 64)
	if err != nil {
		return 0
	}
	return version
}

// seen is what a watch showed, without what only one API server can know.
type seen struct {
	answer  answer
	lines   []string // the events in short, and how it ended if it did so itself
	objects []any    // those of the events
	types   []string
	// bookmarks are those but for the one that ends the initial events. A real API server does not promise to send any.
	bookmarks []any
}

// seen waits until a watch has shown all.
func (s *show) seen(i int) seen {
	w, known := s.watches[i], s.known.copy()
	<-w.done
	out, newest := seen{answer: w.answer}, uint64(0)
	for _, e := range s.ordered(s.of.watches[i], w) {
		metadata := metadataOf(e.Object)
		version := versionOf(metadata["resourceVersion"])
		line := e.Type
		switch e.Type {
		case "BOOKMARK":
			metadata["resourceVersion"] = "<new>"
			if version < newest {
				metadata["resourceVersion"] = "<older than what was shown>"
			}
			if metadata["annotations"] == nil {
				out.bookmarks = append(out.bookmarks, e.Object)
				continue
			}
		case "ERROR":
			known.refusal(e.Object)
			line += fmt.Sprint(" ", e.Object["code"])
		default:
			newest = max(newest, version)
			known.normal(e.Object)
			line += fmt.Sprintf(" %v/%v %v", metadata["namespace"], metadata["name"], metadata["resourceVersion"])
		}
		out.types, out.lines, out.objects = append(out.types, e.Type), append(out.lines, line), append(out.objects, e.Object)
	}
	if w.ended != "" {
		out.lines, out.objects = append(out.lines, w.ended), append(out.objects, nil)
	}
	return out
}

// ordered are the events of the objects of the history: the initial ones, which may come in any order, by their names.
func (s *show) ordered(of watching, w *watch) []event {
	events := slices.DeleteFunc(slices.Clone(w.events), func(e event) bool {
		namespace, has := metadataOf(e.Object)["namespace"].(string)
		return has && !slices.Contains(s.spaces, namespace)
	})
	sends, version := of.query.Get("sendInitialEvents"), of.query.Get("resourceVersion")
	if sends != "true" && (sends != "" || version != "" && version != "0") {
		return events
	}
	initial := slices.IndexFunc(events, func(e event) bool {
		return e.Type != "ADDED" || versionOf(metadataOf(e.Object)["resourceVersion"]) > w.listed
	})
	if initial < 0 {
		initial = len(events)
	}
	name := func(e event) string {
		return fmt.Sprint(metadataOf(e.Object)["namespace"], "/", metadataOf(e.Object)["name"])
	}
	slices.SortFunc(events[:initial], func(a, b event) int { return cmp.Compare(name(a), name(b)) })
	return events
}

// copy knows the same.
func (k *identities) copy() *identities {
	return &identities{uids: maps.Clone(k.uids), versions: maps.Clone(k.versions), names: maps.Clone(k.names)}
}

// refusal is a refusal of a watch, in which only the versions that were asked for can be the same.
func (k *identities) refusal(object map[string]any) any {
	if message, is := object["message"].(string); is {
		object["message"] = number.ReplaceAllStringFunc(message, func(digits string) string {
			if digits == toCome {
				return digits
			}
			return "<number>"
		})
	}
	return k.normal(object)
}
