package limit

// FollowRules takes rules as [Guard.Follow] does.
func (g *Guard) FollowRules(all []Rule, known bool) { g.follow(all, known) }
