package scrapeauth

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
)

// server is an API server without a network: the token NAME is that of NAME, and "may" lists
// "NAME PATH" that are allowed.
type server struct {
	mu      sync.Mutex
	may     map[string]bool
	asked   []string
	broken  string // the path of requests that fail
	status  int    // how they fail; 0 for no answer at all
	hanging bool   // requests are never answered
	last    authorizationv1.SubjectAccessReviewSpec
}

// RoundTrip implements [http.RoundTripper].
func (s *server) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	recorder := httptest.NewRecorder()
	recorder.Header().Set("Content-Type", "application/json")
	switch {
	case s.hanging:
		s.mu.Unlock()
		<-r.Context().Done()
		s.mu.Lock()
		return nil, r.Context().Err()
	case s.broken != "" && strings.HasSuffix(r.URL.Path, s.broken) && s.status == 0:
		return nil, context.DeadlineExceeded
	case s.broken != "" && strings.HasSuffix(r.URL.Path, s.broken):
		recorder.WriteHeader(s.status)
	default:
		recorder.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(recorder).Encode(s.answer(r))
	}
	response := recorder.Result()
	response.Request = r
	return response, nil
}

func (s *server) answer(r *http.Request) any {
	if strings.HasSuffix(r.URL.Path, "/tokenreviews") {
		var review authenticationv1.TokenReview
		_ = json.NewDecoder(r.Body).Decode(&review)
		s.asked = append(s.asked, "who is "+review.Spec.Token)
		if review.Spec.Token == "stranger" {
			review.Status = authenticationv1.TokenReviewStatus{Error: "invalid bearer token"}
			return review
		}
		review.Status = authenticationv1.TokenReviewStatus{Authenticated: review.Spec.Token != "nobody", User: authenticationv1.UserInfo{
			Username: strings.TrimSuffix(review.Spec.Token, "?"), UID: "u", Groups: []string{"g"}, Extra: map[string]authenticationv1.ExtraValue{"k": {"v"}},
		}}
		if review.Spec.Token == "anonymous" {
			review.Status.User.Username = ""
		}
		return review
	}
	var review authorizationv1.SubjectAccessReview
	_ = json.NewDecoder(r.Body).Decode(&review)
	s.last = review.Spec
	asked := review.Spec.User + " " + review.Spec.NonResourceAttributes.Path
	s.asked = append(s.asked, "may "+asked)
	review.Status.Allowed = s.may[asked]
	review.Status.Denied = review.Spec.User == "denied"
	return review
}

// door is a filter before both paths, and its server.
type door struct {
	*server
	t     *testing.T
	clock *clocktesting.FakeClock
	log   bytes.Buffer
	paths map[string]http.Handler
}

func newDoor(t *testing.T) *door {
	t.Helper()
	d := &door{
		server: &server{may: map[string]bool{"ann /metrics": true, "bob /explain": true, "denied /metrics": true}},
		t:      t, clock: clocktesting.NewFakeClock(time.Unix(1000, 0)), paths: map[string]http.Handler{},
	}
	config := &rest.Config{Host: "http://api", Transport: d.server, ContentConfig: rest.ContentConfig{ContentType: "application/json"}}
	filter, err := New(config, d.clock, slog.New(slog.NewTextHandler(&d.log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	inside := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	for _, path := range []string{"/metrics", "/explain"} {
		d.paths[path] = filter.Protect(path, inside)
	}
	return d
}

func (d *door) knock(authorization, path string) *httptest.ResponseRecorder {
	return d.knockFor(d.t.Context(), authorization, path)
}

func (d *door) knockFor(ctx context.Context, authorization, path string) *httptest.ResponseRecorder {
	request := httptest.NewRequestWithContext(ctx, http.MethodGet, path, nil)
	if authorization != "" {
		request.Header.Set("Authorization", authorization)
	}
	recorder := httptest.NewRecorder()
	d.paths[path].ServeHTTP(recorder, request)
	return recorder
}

// TestNewRefuses holds that an address of the API server which is none is an error at the start.
func TestNewRefuses(t *testing.T) {
	_, err := New(&rest.Config{Host: "http://["}, clocktesting.NewFakePassiveClock(time.Now()), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "making a client for token reviews") {
		t.Errorf("the error is %v", err)
	}
}

func TestProtect(t *testing.T) {
	t.Parallel()
	const in = http.StatusTeapot
	cases := map[string]struct {
		reason, authorization, path string
		code                        int
		asked                       []string
	}{
		"allowed":        {"It is known and may.", "Bearer ann", "/metrics", in, []string{"who is ann", "may ann /metrics"}},
		"other path":     {"Each path is a right of its own.", "Bearer ann", "/explain", http.StatusForbidden, []string{"who is ann", "may ann /explain"}},
		"its own path":   {"The other way round.", "Bearer bob", "/explain", in, []string{"who is bob", "may bob /explain"}},
		"not allowed":    {"It is known, and that is not enough.", "Bearer eve", "/metrics", http.StatusForbidden, []string{"who is eve", "may eve /metrics"}},
		"denied":         {"Who is denied is not allowed.", "Bearer denied", "/metrics", http.StatusForbidden, []string{"who is denied", "may denied /metrics"}},
		"stranger":       {"The API server refuses the token.", "Bearer stranger", "/metrics", http.StatusUnauthorized, []string{"who is stranger"}},
		"nobody":         {"It does not say why.", "Bearer nobody", "/metrics", http.StatusUnauthorized, []string{"who is nobody"}},
		"no name":        {"Nothing is allowed to nobody.", "Bearer anonymous", "/metrics", http.StatusUnauthorized, []string{"who is anonymous"}},
		"no token":       {"Nobody needs to be asked.", "", "/metrics", http.StatusUnauthorized, nil},
		"empty token":    {"As none.", "Bearer ", "/metrics", http.StatusUnauthorized, nil},
		"another scheme": {"A password is no token.", "Basic YW5uOmFubg==", "/metrics", http.StatusUnauthorized, nil},
		"small letters":  {"Schemes have no case.", "bearer  ann ", "/metrics", in, []string{"who is ann", "may ann /metrics"}},
		"endless":        {"No token is that long.", "Bearer " + strings.Repeat("a", longestToken+1), "/metrics", http.StatusUnauthorized, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			got := d.knock(tc.authorization, tc.path)
			if got.Code != tc.code {
				t.Errorf("%s\nwant %d, have %d: %s", tc.reason, tc.code, got.Code, got.Body)
			}
			if diff := cmp.Diff(tc.asked, d.asked); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if challenge := got.Header().Get("WWW-Authenticate"); (challenge == "Bearer") != (tc.code == http.StatusUnauthorized) {
				t.Errorf("%s\nWWW-Authenticate is %q", tc.reason, challenge)
			}
			if d.log.Len() > 0 {
				t.Errorf("%s\na refusal is no news: %s", tc.reason, &d.log)
			}
		})
	}
}

// TestWho holds that all that the API server knows of a caller goes into the second question.
func TestWho(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.knock("Bearer ann", "/metrics")
	want := authorizationv1.SubjectAccessReviewSpec{
		User: "ann", UID: "u", Groups: []string{"g"}, Extra: map[string]authorizationv1.ExtraValue{"k": {"v"}},
		NonResourceAttributes: &authorizationv1.NonResourceAttributes{Path: "/metrics", Verb: "get"},
	}
	if diff := cmp.Diff(want, d.last); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestRemembers holds that the API server is not asked at each scrape, and that what it said is
// not believed for long.
func TestRemembers(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	expect := func(reason, token, path string, code, asked int) {
		t.Helper()
		before := len(d.asked)
		if got := d.knock("Bearer "+token, path).Code; got != code {
			t.Errorf("%s: want %d, have %d", reason, code, got)
		}
		if got := len(d.asked) - before; got != asked {
			t.Errorf("%s: want %d questions, have %q", reason, asked, d.asked[before:])
		}
	}
	const in = http.StatusTeapot
	expect("at first", "ann", "/metrics", in, 2)
	expect("of another path nothing is known", "ann", "/explain", http.StatusForbidden, 2)
	expect("nor of another token of the same account", "ann?", "/metrics", in, 2)
	expect("at first", "eve", "/metrics", http.StatusForbidden, 2)
	expect("at first", "stranger", "/metrics", http.StatusUnauthorized, 1)
	delete(d.may, "ann /metrics")
	d.may["eve /metrics"] = true
	d.clock.Step(keepRefused)
	expect("the last moment", "eve", "/metrics", http.StatusForbidden, 0)
	expect("a refusal of a token is remembered too", "stranger", "/metrics", http.StatusUnauthorized, 0)
	d.clock.Step(time.Nanosecond)
	expect("who is given the right soon comes in", "eve", "/metrics", in, 2)
	expect("a token may have become good", "stranger", "/metrics", http.StatusUnauthorized, 1)
	d.clock.Step(keepAllowed - keepRefused - time.Nanosecond)
	expect("a scrape later", "ann", "/metrics", in, 0)
	d.clock.Step(time.Nanosecond)
	expect("who has lost the right stays out", "ann", "/metrics", http.StatusForbidden, 2)
}

// TestCannotAsk holds that nobody comes in then, that the log says why once, and that nothing
// of it is remembered.
func TestCannotAsk(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		reason, path string
		status       int
		said         string
	}{
		"down":             {"Nobody answers.", "/tokenreviews", 0, "asking whose a token is"},
		"no right to ask":  {"The process lacks the right.", "/tokenreviews", http.StatusForbidden, "asking whose a token is"},
		"no second answer": {"It goes down in between.", "/subjectaccessreviews", 0, "asking whether a caller may get /metrics"},
		"no second right":  {"The process lacks one right.", "/subjectaccessreviews", http.StatusForbidden, "asking whether a caller may get /metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDoor(t)
			for range 2 {
				d.broken, d.status = tc.path, tc.status
				d.log.Reset()
				for range 3 {
					if got := d.knock("Bearer ann", "/metrics"); got.Code != http.StatusServiceUnavailable {
						t.Errorf("%s: have %d: %s", tc.reason, got.Code, got.Body)
					}
				}
				if said := d.log.String(); strings.Count(said, "level=WARN") != 1 || !strings.Contains(said, tc.said) || strings.Contains(said, " ann") {
					t.Errorf("%s: the log says\n%s", tc.reason, said)
				}
				d.broken = ""
				if got := d.knock("Bearer ann", "/metrics"); got.Code != http.StatusTeapot {
					t.Errorf("%s: it answers again, have %d", tc.reason, got.Code)
				}
				if said := d.log.String(); strings.Count(said, "callers can be checked again") != 1 {
					t.Errorf("%s: the log says\n%s", tc.reason, said)
				}
				d.clock.Step(keepAllowed + time.Nanosecond)
			}
		})
	}
}

// TestHalfLost holds that a stranger, of whom half as much is asked, says nothing of the rest.
func TestHalfLost(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.broken = "/subjectaccessreviews"
	for range 3 {
		d.knock("Bearer ann", "/metrics")
		d.knock("Bearer stranger", "/metrics")
		d.clock.Step(keepAllowed)
	}
	if said := d.log.String(); strings.Count(said, "\n") != 1 {
		t.Errorf("the log says\n%s", said)
	}
}

// TestStrangers holds that many of them keep nobody out who was in before, nor fill the log, and
// that they are not asked about without end.
func TestStrangers(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	come := func(want int) {
		t.Helper()
		if got := d.knock("Bearer ann", "/metrics").Code; got != want {
			t.Errorf("ann: want %d, have %d", want, got)
		}
	}
	come(http.StatusTeapot)
	d.clock.Step(keepAllowed + time.Nanosecond)
	before, codes := len(d.asked), map[int]int{}
	for i := range 200 {
		got := d.knock(fmt.Sprint("Bearer ", i), "/metrics")
		if got.Header().Get("Connection") != "close" {
			t.Error("a connection stays")
		}
		codes[got.Code]++
	}
	if diff := cmp.Diff(map[int]int{http.StatusForbidden: strangersAtOnce, http.StatusTooManyRequests: 200 - strangersAtOnce}, codes); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := len(d.asked) - before; got != 2*strangersAtOnce {
		t.Errorf("%d questions", got)
	}
	come(http.StatusTeapot)
	delete(d.may, "ann /metrics")
	d.clock.Step(keepAllowed + time.Nanosecond)
	come(http.StatusForbidden)
	d.clock.Step(keepRefused + time.Nanosecond)
	for i := range 200 {
		d.knock(fmt.Sprint("Bearer ", i), "/metrics")
	}
	come(http.StatusTooManyRequests) // Who has lost the right is a stranger.
	if d.log.Len() > 0 {
		t.Errorf("the log says %s", &d.log)
	}
}

// TestHangs holds that a caller is answered although the API server never does, and that one
// who has gone is no reason to tell of it.
func TestHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDoor(t)
		d.hanging = true
		gone, leave := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, leave)
		d.knockFor(gone, "Bearer ann", "/metrics")
		if d.log.Len() > 0 {
			t.Errorf("the log says %s", &d.log)
		}
		began := time.Now()
		if got := d.knock("Bearer ann", "/metrics"); got.Code != http.StatusServiceUnavailable {
			t.Errorf("have %d: %s", got.Code, got.Body)
		}
		if took := time.Since(began); took != timeout {
			t.Errorf("it took %s, want %s", took, timeout)
		}
		if said := d.log.String(); !strings.Contains(said, "callers cannot be checked") {
			t.Errorf("the log says %q", said)
		}
	})
}
