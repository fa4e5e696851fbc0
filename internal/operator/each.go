package operator

import (
	"context"
	"sync"
)

// Run keeps the tenants ready until the context is done: their rights are known, and
// their caches warm. It is called once, besides [Operator.Lead].
func (o *Operator) Run(ctx context.Context) {
	var others sync.WaitGroup
	others.Go(func() { o.findOrphans(ctx) })
	others.Go(func() { o.succeed(ctx) })
	o.each(ctx, func(ctx context.Context, t *tenant) { t.access.Run(ctx) })
	others.Wait()
	o.close()
}

// Lead has the tenants work until the context is done. Writes that are under way are
// finished. It is called once, while Run runs.
func (o *Operator) Lead(ctx context.Context) {
	var others sync.WaitGroup
	others.Go(func() { o.findOrphans(ctx) }) // Who led before may have left others.
	if !o.options.dryRun() {
		others.Go(func() { o.statuses.Run(ctx) })
		others.Go(func() { o.discharge(ctx) })
		others.Go(func() { o.serve(ctx) })
	}
	o.each(ctx, func(ctx context.Context, t *tenant) { t.work(ctx) })
	others.Wait()
}

// each does something for every tenant that is there or comes, each in a goroutine of
// its own, whose context ends when the tenant goes. It returns when the context is done
// and all of them have.
func (o *Operator) each(ctx context.Context, do func(context.Context, *tenant)) {
	var all sync.WaitGroup
	defer all.Wait()
	begun := map[*tenant]bool{}
	for {
		tenants, news := o.present()
		still := map[*tenant]bool{}
		for _, t := range tenants {
			still[t] = true
			if begun[t] {
				continue
			}
			all.Go(func() {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				all.Go(func() {
					select {
					case <-t.gone:
						cancel()
					case <-ctx.Done():
					}
				})
				do(ctx, t)
			})
		}
		begun = still
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// present lists the tenants in order, with a channel that is closed when there are
// others.
func (o *Operator) present() ([]*tenant, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.sorted(), o.news
}

// close stops the caches of tenants that have never worked.
func (o *Operator) close() {
	tenants, _ := o.present()
	for _, t := range tenants {
		t.close()
	}
}
