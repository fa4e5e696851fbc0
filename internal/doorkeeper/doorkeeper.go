package doorkeeper

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/util/cache"
	typedauthenticationv1 "k8s.io/client-go/kubernetes/typed/authentication/v1"
	typedauthorizationv1 "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/utils/clock"
)

const (
	// timeout is how long both questions about a caller may take together. Prometheus waits
	// for ten seconds.
	timeout = 5 * time.Second
	// For how long it is remembered that a caller is let in, and that one is not: who has just
	// been given a right does not wait long.
	keepAllowed = time.Minute
	keepRefused = 10 * time.Second
	// keepKnown is for how long who was let in is asked about before strangers are: longer than
	// Prometheus waits between two scrapes.
	keepKnown = 10 * time.Minute
	// mostRemembered bounds what is remembered, of callers and paths.
	mostRemembered = 1024
	// longestToken is far above that of a ServiceAccount, in bytes.
	longestToken = 16 << 10
	// Strangers may make us ask about so many.
	strangersPerSecond, strangersAtOnce = 10, 20
)

// Doorkeeper decides who is let in. It is safe for concurrent use.
type Doorkeeper struct {
	tokens   typedauthenticationv1.TokenReviewInterface
	access   typedauthorizationv1.SubjectAccessReviewInterface
	verdicts *cache.LRUExpireCache // status codes by question
	// known are the questions that were answered well lately. They are asked again, but strangers
	// cannot keep them from that.
	known     *cache.LRUExpireCache
	strangers flowcontrol.PassiveRateLimiter
	log       *slog.Logger
	lost      atomic.Bool // the API server could not be asked, which has been told
}

// New returns a doorkeeper that asks with the rights of the configuration, which must allow to
// create tokenreviews and subjectaccessreviews. It sends no request yet.
func New(config *rest.Config, clock clock.PassiveClock, log *slog.Logger) (*Doorkeeper, error) {
	own := rest.CopyConfig(config)
	own.RateLimiter, own.QPS = nil, -1 // What strangers make us ask must not hold back rules, nor wait.
	tokens, err := typedauthenticationv1.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("making a client for token reviews: %w", err)
	}
	access, err := typedauthorizationv1.NewForConfig(own)
	if err != nil {
		return nil, fmt.Errorf("making a client for access reviews: %w", err)
	}
	return &Doorkeeper{
		tokens: tokens.TokenReviews(), access: access.SubjectAccessReviews(),
		verdicts:  cache.NewLRUExpireCacheWithClock(mostRemembered, clock),
		known:     cache.NewLRUExpireCacheWithClock(mostRemembered, clock),
		strangers: flowcontrol.NewTokenBucketPassiveRateLimiterWithClock(strangersPerSecond, strangersAtOnce, clock), log: log,
	}, nil
}

// Protect has the handler answer only who may get the path, as a nonResourceURL, whatever the
// path of the request is.
func (d *Doorkeeper) Protect(path string, handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		code := d.admit(r.Context(), bearer(r), path)
		if code == http.StatusOK {
			handler.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Connection", "close") // Else a stranger may hold many.
		switch code {
		case http.StatusTooManyRequests:
			http.Error(w, "too many callers are new here, come again in a moment", code)
		case http.StatusUnauthorized:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "a bearer token that the API server accepts is needed", code)
		case http.StatusForbidden:
			http.Error(w, "the token does not give the right to get this path", code)
		default:
			http.Error(w, "the API server cannot be asked who may come in; the log says why", code)
		}
	})
}

// bearer is the token of a request, empty for none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// question is what is asked of a caller. Tokens themselves are not kept.
type question struct {
	token [sha256.Size]byte
	path  string
}

// admit is the status code for whoever has the token.
func (d *Doorkeeper) admit(ctx context.Context, token, path string) int {
	if token == "" || len(token) > longestToken {
		return http.StatusUnauthorized
	}
	asked := question{sha256.Sum256([]byte(token)), path}
	verdict, _ := d.verdicts.Get(asked)
	if code, is := verdict.(int); is {
		return code
	}
	if _, known := d.known.Get(asked); !known && !d.strangers.TryAccept() {
		return http.StatusTooManyRequests
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	code, err := d.ask(ctx, token, path)
	if err != nil {
		d.failed(ctx, err)
		return http.StatusServiceUnavailable
	}
	d.remember(asked, code)
	return code
}

func (d *Doorkeeper) remember(asked question, code int) {
	// Of a stranger only the first question was asked.
	if code != http.StatusUnauthorized && d.lost.CompareAndSwap(true, false) {
		d.log.Info("callers can be checked again")
	}
	keep := keepRefused
	if code == http.StatusOK {
		keep = keepAllowed
		d.known.Add(asked, nil, keepKnown)
	} else {
		d.known.Remove(asked)
	}
	d.verdicts.Add(asked, code, keep)
}

// failed tells once that nobody comes in. A caller who has gone says nothing of the API server.
func (d *Doorkeeper) failed(ctx context.Context, err error) {
	if ctx.Err() == context.Canceled {
		return
	}
	if d.lost.CompareAndSwap(false, true) {
		d.log.Warn("callers cannot be checked, so none is let in", "err", err)
	}
}
