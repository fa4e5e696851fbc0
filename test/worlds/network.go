package worlds

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/dyncontroller/dyncontroller/pkg/simulate/apiserver"
	"github.com/dyncontroller/dyncontroller/pkg/simulate/storage"
)

// network carries the requests of replicas to the API server one at a time, each when nothing else moves. Which of those that are on their
// way is next, it draws, or a record says. It is for the first goroutine of a bubble.
//
//	line.RoundTrip queues an errand -> serve -> next picks one -> carry decides on its fault -> arrive has the API server do it, and the history
//	notes it -> deliver gives the client the answer
//
// Requests of users go to the API server at once.
type network struct {
	server  *apiserver.Server
	stored  *storage.World
	history *history
	choose  func(n int) int // which of n requests is next
	ordered bool            // what watches have to say waits as requests do, so its order is chosen, too
	record  []*request      // of another life of this world, which it follows
	moment  time.Time       // of the last request
	atOnce  int             // how many there have been at that moment
	revoked revocation      // what replicas may not do
	asked   chan struct{}   // has a value when there may be a request to carry

	mu      sync.Mutex
	waiting []*errand // guarded by mu
}

// errand is a request of a replica that is on its way, or what a watch of it has to say next.
type errand struct {
	line      *line
	request   *http.Request
	sent      time.Time
	due       time.Time // before which it does not arrive
	hit       hit       // what happens to it
	answer    chan answer
	says      chan struct{} // of a watch: closed when it arrives; nil of a request
	abandoned atomic.Bool   // nobody waits for the answer
}

type answer struct {
	response *http.Response
	err      error
}

// deliver gives the client the answer.
func (e *errand) deliver(response *http.Response, err error) {
	if response != nil {
		response.Body = freezing{response.Body, e.line}
		if e.line.network.ordered && wayOf(e.request) == watches {
			response.Body = &orderly{ReadCloser: response.Body, watch: e}
		}
	}
	if e.abandoned.Load() && response != nil {
		_ = response.Body.Close() // Nobody reads it.
	}
	e.answer <- answer{response, err}
}

// mostAtOnce is how many requests there may be at one moment. What sends more goes round in a circle.
const mostAtOnce = 20_000

// serve carries requests until there is a value, or the end, of a channel, or so many requests have been carried.
func (n *network) serve(until <-chan time.Time, most int) {
	over := false
	for served := 0; served < most; {
		synctest.Wait()
		if now := time.Now(); !now.Equal(n.moment) {
			n.moment, n.atOnce = now, 0
		}
		if next := n.next(); next != nil {
			if n.atOnce++; n.atOnce > mostAtOnce {
				panic("requests go on and on, and no time goes by")
			}
			n.carry(next)
			if next.says == nil {
				served++
			}
			continue
		}
		if over {
			return
		}
		select {
		case <-until:
			over = true
		case <-n.asked:
		}
	}
}

// take has a request wait until it is carried.
func (n *network) take(e *errand) {
	n.mu.Lock()
	n.waiting = append(n.waiting, e)
	n.mu.Unlock()
	n.wake()
	if d := time.Until(e.due); d > 0 {
		time.AfterFunc(d, n.wake)
	}
}

// wake has the network look for requests to carry.
func (n *network) wake() {
	select {
	case n.asked <- struct{}{}:
	default:
	}
}

// isBelated reports whether a request is on its way of which its client does not know.
func (n *network) isBelated() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.ContainsFunc(n.waiting, func(e *errand) bool { return e.hit.fault == Belated && !e.line.isGone() })
}

// next takes one of the requests that are on their way, nil if there is none.
func (n *network) next() *errand {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.waiting = slices.DeleteFunc(n.waiting, func(e *errand) bool {
		return e.abandoned.Load() && e.hit.fault != Belated || e.line.isGone()
	})
	var movable []*errand
	for _, e := range n.waiting {
		if e.line.thaws() <= 0 && !e.due.After(time.Now()) {
			movable = append(movable, e)
		}
	}
	if len(movable) == 0 {
		return nil
	}
	// What was asked at one moment has no order of its own.
	slices.SortStableFunc(movable, func(a, b *errand) int {
		return cmp.Or(
			cmp.Compare(a.line.as, b.line.as), cmp.Compare(a.request.Method, b.request.Method), cmp.Compare(a.request.URL.String(), b.request.URL.String()),
			a.sent.Compare(b.sent),
		)
	})
	out := n.follow(movable)
	if out == nil {
		return nil
	}
	n.waiting = slices.DeleteFunc(n.waiting, func(e *errand) bool { return e == out })
	return out
}

// follow is the one of several requests that is next: by the record of an earlier life of the world as far as there is one, or by lot. What
// the record has next may not be on its way yet. If it has not come by the moment at which it was carried, the world goes its own way from
// then on.
func (n *network) follow(several []*errand) *errand {
	for len(n.record) > 0 && n.record[0].as == user {
		n.record = n.record[1:]
	}
	if len(n.record) == 0 {
		return several[n.choose(len(several))]
	}
	next := n.record[0]
	at := slices.IndexFunc(several, func(e *errand) bool {
		return e.line.as == next.as && e.request.Method == next.method && e.request.URL.Path == next.path && withoutTimeout(e.request.URL.RawQuery) == withoutTimeout(next.query)
	})
	switch until := time.Until(next.at); {
	case until > 0: // Nothing is carried earlier than it was.
		time.AfterFunc(until, n.wake)
		return nil
	case at >= 0:
		n.record = n.record[1:]
		return several[at]
	default:
		n.record = nil
		return n.follow(several)
	}
}

// withoutTimeout is a query without the timeout, which the network sets itself.
func withoutTimeout(query string) string {
	values, _ := url.ParseQuery(query) // It is that of a client.
	values.Del("timeoutSeconds")
	return values.Encode()
}

// carry sends a request, and has happen to it what is to.
func (n *network) carry(e *errand) {
	if e.says != nil {
		close(e.says)
		return
	}
	if !e.hit.taken {
		e.hit = e.line.hit(e.request)
		if wayOf(e.request) == watches { // client-go would draw it by lot.
			e.line.watches++
			query := e.request.URL.Query()
			query.Set("timeoutSeconds", strconv.Itoa(300+e.line.watches*37%300))
			e.request = e.request.Clone(e.request.Context())
			e.request.URL.RawQuery = query.Encode()
		}
		switch e.hit.fault {
		case Slow, Belated:
			if e.due = time.Now().Add(e.hit.by); e.hit.fault == Belated {
				e.request = e.request.WithContext(context.WithoutCancel(e.request.Context())) // The client has done with it.
				e.answer <- answer{nil, errReset}
			}
			n.take(e)
			return
		default: // It arrives now, or never.
		}
	}
	one := n.history.begin(e.line.as, e.request)
	one.sent, one.fault = e.sent, e.hit.fault
	e.hit.carry(e, func() (*http.Response, error) { return n.arrive(one, e.request) })
}

// arrive has the API server carry a request out, if it is allowed.
func (n *network) arrive(one *request, r *http.Request) (*http.Response, error) {
	if one.as != user {
		if out := n.revoked.answer(r); out != nil {
			return out, n.history.arrived(one, out)
		}
	}
	out, err := n.server.Transport(n.stored).RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("carrying a request out: %w", err)
	}
	return out, n.history.arrived(one, out)
}
