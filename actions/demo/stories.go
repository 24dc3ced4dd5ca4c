package demo

import (
	"time"

	"jobtop/store/sandbox"
)

// pausedKind is paused by bob from before the start.
const pausedKind = "sms.send"

// pausedFor is how long ago that was.
const pausedFor = 35 * time.Minute

// stories are the jobs of a kind that somebody may want to look at from the first
// moment: a few of every state and every verdict.
func (p *past) stories(kind string) []birth {
	switch kind {
	case "card.charge":
		return p.charges()
	case "invoice.send":
		return p.invoices()
	case "mail.send":
		return p.mails()
	case "refund.pay":
		return p.refunds()
	case "report.build":
		return p.reports()
	}
	return p.texts()
}

// noAnswer is from a time when workers had more patience.
const noAnswer = "no answer from the provider within 30s"

func (p *past) charges() []birth {
	return []birth{
		{ago: 5*time.Hour + 12*time.Minute, tell: func(l *life) { // did not happen, dead
			l.after(2*time.Second).claim("w-2", "v4.2.1").after(time.Second).intent().after(900*time.Millisecond).
				fail("refused", false, "declined", "the provider refused with status 402: card expired")
		}},
		{ago: 4*time.Hour + 40*time.Minute, tell: func(l *life) { // settled by hand, after a refusal
			l.after(time.Second).claim("w-4", "v4.2.1").after(time.Second).intent().happens().after(30*time.Second).fail("unknown", true, "provider timeout", noAnswer)
			l.after(11*time.Minute).refused("requeue", "bob", "try it again", "uncertain")
			l.after(2*time.Minute).act("done", "alice", "ticket 5498: the provider has it", lookedUp, withReceipt(l.receiptID()))
		}},
		{ago: 2*time.Hour + 3*time.Minute, known: true, tell: func(l *life) { // may have happened, and did
			l.after(23*time.Second).claim("w-7", "v4.2.1").after(time.Second).intent().happens().after(20 * time.Second).beat(0)
			l.after(10*time.Second).fail("unknown", true, "provider timeout", noAnswer)
		}},
		{ago: 2*time.Hour + 1*time.Minute, tell: func(l *life) { // may have happened, and did not
			l.after(4*time.Second).claim("w-2", "v4.2.1").after(time.Second).intent().after(300*time.Millisecond).
				fail("refused", true, "busy", busy)
			l.retry().claim("w-7", "v4.2.1").after(time.Second).intent().after(30*time.Second).fail("unknown", true, "provider timeout", noAnswer)
		}},
		{ago: 94 * time.Minute, tell: func(l *life) { // never started, held before it was claimed
			l.after(200*time.Millisecond).act("hold", "alice", "the customer disputes it, ticket 5512")
		}},
		{ago: 71 * time.Minute, tell: func(l *life) { // changed by somebody else meanwhile
			l.after(time.Second).claim("w-5", "v4.2.1").after(time.Second).intent().happens().after(callTimeout).
				fail("unknown", true, "connection lost", lost)
			l.after(6*time.Minute).act("done", "bob", "found in the provider's list", lookedUp, withReceipt(l.receiptID()))
			l.after(20*time.Second).refused("requeue", "alice", "nothing came of it", "changed", seen("review", 3), confirmed("may_have_happened"))
		}},
		{ago: 31 * time.Minute, tell: func(l *life) { // late report of a definite refusal: did not happen, dead
			l.after(time.Second).claim("w-9", "v4.2.0").after(time.Second).intent().after(2*time.Minute).act("hold", "bob", "w-9 hangs")
			l.after(40*time.Second).reports(false, "declined", declined)
			l.after(5*time.Minute).act("dead", "bob", "declined after all, see the late report")
		}},
		{ago: 14*time.Minute + 20*time.Second, tell: func(l *life) { // stuck: its worker was killed after the intent
			l.after(2*time.Second).claim("w-3", "v4.2.0").after(1200 * time.Millisecond).intent().happens().after(time.Second).beat(0)
		}},
		{ago: 3 * time.Minute, tell: func(l *life) { // failed, with attempts left; did not happen
			for range 3 {
				l.until(l.job.Run).after(time.Second).claim(p.worker())
				l.after(time.Second).intent().after(300*time.Millisecond).fail("refused", true, "busy", busy)
			}
			l.until(9 * time.Second).claim(p.worker())
			l.after(time.Second).intent().after(300*time.Millisecond).fail("refused", true, "busy", busy)
		}},
	}
}

func (p *past) invoices() []birth {
	return []birth{
		{ago: 3*time.Hour + 25*time.Minute, tell: func(l *life) { // given up past the functions
			l.after(3*time.Second).claim("w-1", "v4.2.1").after(2*time.Second).intent().after(callTimeout).fail("unknown", true, "provider timeout", noAnswer)
			l.after(17*time.Minute).act("direct", "dba", "", byHand("dead"))
		}},
		{ago: 2*time.Hour + 44*time.Minute, tell: func(l *life) { // never started, dead
			l.after(time.Second).claim("w-8", "v4.2.1").after(100*time.Millisecond).
				fail("not_begun", false, "bad address", "the customer has no address\nfield \"email\" is empty in the order\nnothing was sent to anybody")
		}},
		{ago: 51 * time.Minute, known: true, tell: func(l *life) { // happened, says a late report
			l.after(2*time.Second).claim("w-5", "v4.2.1").after(2*time.Second).intent().after(2*time.Minute).act("hold", "alice", "w-5 says nothing any more")
			l.after(75*time.Second).reports(true, "", "")
		}},
		{ago: 46 * time.Minute, tell: func(l *life) { // never started, the last of three attempts hung
			for range 2 {
				l.until(l.job.Run).after(2 * time.Second).claim(p.worker())
				l.after(100*time.Millisecond).fail("not_begun", true, "template missing", "invoice-2024 has no text in pt-BR")
			}
			l.retry().claim("w-9", "v4.2.0").after(5*time.Minute).act("hold", "bob", "w-9 hangs, and the template is missing anyway")
		}},
		{ago: 38 * time.Minute, tell: func(l *life) { // refused while its worker was alive, then done
			l.after(time.Second).claim("w-6", "v4.2.0").after(3*time.Second).beat(0).refused("requeue", "alice", "seems to hang", "alive", confirmed("may_have_happened"))
			l.after(time.Second).intent().after(700 * time.Millisecond).done()
		}},
		{ago: 22 * time.Minute, tell: func(l *life) { // in doubt; the provider knows nothing
			l.after(time.Second).claim("w-4", "v4.2.1").after(2*time.Second).intent().after(callTimeout).fail("unknown", true, "provider timeout", noAnswer)
		}},
		{ago: 14*time.Minute + 18*time.Second, tell: func(l *life) { // stuck before its effect began
			l.after(3*time.Second).claim("w-3", "v4.2.0").after(time.Second).beat(0)
		}},
		{ago: 9 * time.Minute, tell: func(l *life) { // waits to be tried again
			l.after(2*time.Second).claim("w-8", "v4.2.1").after(100*time.Millisecond).fail("not_begun", true, "template missing", "invoice-2024 has no text in fr")
			l.after(4*time.Minute).act("requeue", "alice", "the template was added, spread with the others", delayed(8*time.Minute))
		}},
	}
}

func (p *past) mails() []birth {
	return []birth{
		{ago: 4*time.Hour + 5*time.Minute, tell: func(l *life) { // given up, not known
			l.after(time.Second).claim("w-6", "v4.2.0").after(20*time.Second).fail("unknown", true, "connection lost", "the mail relay closed the connection after DATA")
			l.after(50*time.Minute).act("dead", "bob", "nobody needs a reminder twice")
		}},
		{ago: 25 * time.Minute, known: true, tell: func(l *life) { // not known
			l.after(time.Second).claim("w-6", "v4.2.0").after(20*time.Second).fail("unknown", true, "connection lost", "the mail relay closed the connection after DATA")
		}},
		{ago: 24 * time.Minute, tell: func(l *life) { // not known, and still running
			l.after(time.Second).claim("w-6", "v4.2.0").after(2 * time.Second).beat(0)
		}},
		{ago: 12 * time.Minute, tell: func(l *life) { // never started, dead
			l.after(time.Second).claim("w-8", "v4.2.1").after(50*time.Millisecond).fail("not_begun", false, "bad address", "\"customer@@example.com\" is no address")
		}},
	}
}

func (p *past) refunds() []birth {
	var first, receipt string
	return []birth{
		{ago: 64 * time.Minute, tell: func(l *life) {
			l.after(time.Second).claim("w-1", "v4.2.1").after(time.Second).intent().after(time.Second).done()
			first, receipt = l.job.ID, l.receiptID()
		}},
		{ago: 63*time.Minute + 50*time.Second, known: true, tell: func(l *life) { // brought another one's receipt
			l.after(time.Second).claim("w-4", "v4.2.1").after(time.Second).intent().after(time.Second).
				fail("unknown", true, "receipt taken", "the receipt '"+receipt+"' came back, which job '"+first+"' has")
			p.effects[l.job.EffectKey] = PastEffect{ReceiptID: receipt, Ago: l.at}
			l.after(9*time.Minute).refused("done", "alice", "the provider says so", "receipt_conflict", withReceipt(receipt))
		}},
		{ago: 2*time.Hour + 30*time.Minute, tell: func(l *life) { // did not happen, requeued, declined again
			l.after(time.Second).claim("w-7", "v4.2.1").after(time.Second).intent().after(time.Second).fail("refused", false, "declined", "the provider refused with status 402: account closed")
			l.after(20*time.Minute).act("requeue", "bob", "the account was opened again")
			l.after(time.Second).claim("w-2", "v4.2.1").after(time.Second).intent().after(time.Second).fail("refused", false, "declined", "the provider refused with status 402: account closed")
		}},
	}
}

func (p *past) reports() []birth {
	return []birth{
		{ago: 14*time.Minute + 35*time.Second, known: true, tell: func(l *life) { // stuck half-way
			l.after(time.Second).claim("w-3", "v4.2.0")
			for progress := range int64(8) {
				l.after(2 * time.Second).beat(5 * (progress + 1))
			}
		}},
		{ago: 2 * time.Minute, tell: func(l *life) { // failed before its effect began, and waits
			l.after(time.Second).claim("w-5", "v4.2.1").after(4*time.Second).beat(15).after(time.Second).
				fail("not_begun", true, "disk full", "write /var/reports/tmp: no space left on device")
			l.job.Run = -3 * time.Minute // its worker asks for a longer backoff
		}},
	}
}

// texts pile up while their kind is paused.
func (p *past) texts() []birth {
	births := []birth{{ago: 52 * time.Minute, known: true, tell: func(l *life) {
		l.after(time.Second).claim("w-4", "v4.2.1").after(time.Second).fail("unknown", true, "connection lost", "the carrier closed the connection before it answered")
	}}}
	for ago := pausedFor - 20*time.Second; ago > 0; ago -= ms(p.dice, 20_000, 140_000) {
		births = append(births, birth{ago: ago, tell: func(*life) {}})
	}
	return births
}

// aside are the actions on no job: the pause, and a lost answer that was settled.
func (p *past) aside() {
	kind, reason, client := pausedKind, "the carrier has an outage, ticket 5530", "jobtop"
	p.history.Paused = append(p.history.Paused, sandbox.PastPause{Kind: kind, By: "bob", Reason: reason, Since: pausedFor})
	p.history.Actions = append(p.history.Actions, sandbox.PastAction{
		ActionID: p.uuid(), Verb: "pause", Kind: &kind, Operator: "bob", DBRole: operatorRole, Client: &client,
		Reason: &reason, Outcome: "applied", At: pausedFor,
	})
	job, lost := kindNamed("card.charge").jobID(kindNamed("card.charge").Known), "its answer was lost, and it had not happened"
	p.history.Actions = append(p.history.Actions, sandbox.PastAction{
		ActionID: p.uuid(), Verb: "hold", JobID: &job, Operator: "alice", DBRole: operatorRole, Client: &client,
		Reason: &lost, Outcome: "void", At: 80 * time.Minute,
	})
}

// retry waits for the next attempt to be due, and a moment longer.
func (l *life) retry() *life {
	return l.until(l.job.Run).after(ms(l.past.dice, 10, 900))
}
