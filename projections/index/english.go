package index

import "strings"

// irregular maps English forms that no stemmer knows to their base: what was bought is found by buy.
const irregular = `
be:been-was-were-is-are-am begin:began-begun bite:bit-bitten blow:blew-blown break:broke-broken breed:bred bring:brought
build:built burn:burnt buy:bought catch:caught choose:chose-chosen come:came cling:clung creep:crept deal:dealt dig:dug
draw:drew-drawn dream:dreamt drink:drank-drunk drive:drove-driven eat:ate-eaten fall:fell-fallen feed:fed feel:felt
fight:fought find:found flee:fled fly:flew-flown forget:forgot-forgotten forgive:forgave-forgiven freeze:froze-frozen
get:got-gotten give:gave-given go:went-gone grow:grew-grown hang:hung hear:heard hide:hid-hidden hold:held keep:kept
kneel:knelt know:knew-known lay:laid lead:led lean:leant leap:leapt learn:learnt leave:left lend:lent light:lit lose:lost
make:made mean:meant meet:met pay:paid ride:rode-ridden ring:rang-rung rise:rose-risen run:ran say:said see:saw-seen
seek:sought sell:sold send:sent shake:shook-shaken shine:shone shoot:shot show:shown shrink:shrank-shrunk sing:sang-sung
sink:sank-sunk sit:sat sleep:slept slide:slid smell:smelt speak:spoke-spoken spell:spelt spend:spent spin:spun spoil:spoilt
stand:stood steal:stole-stolen stick:stuck sting:stung strike:struck swear:swore-sworn sweep:swept swim:swam-swum
swing:swung take:took-taken teach:taught tear:tore-torn tell:told think:thought throw:threw-thrown understand:understood
wake:woke-woken wear:wore-worn weep:wept win:won wind:wound withdraw:withdrew-withdrawn write:wrote-written
rewrite:rewrote-rewritten rebuild:rebuilt override:overrode-overridden overwrite:overwrote-overwritten undo:undid-undone
child:children foot:feet goose:geese half:halves knife:knives leaf:leaves life:lives man:men mouse:mice person:people
self:selves shelf:shelves tooth:teeth wife:wives wolf:wolves woman:women
index:indices-indexes vertex:vertices matrix:matrices datum:data criterion:criteria schema:schemata
good:better-best bad:worse-worst`

// abbreviations maps what developers shorten to the whole word.
const abbreviations = `
application:app-apps argument:arg-args asynchronous:async configuration:config-configs-conf-cfg database:db-dbs
dependency:dep-deps destination:dest development:dev directory:dir-dirs documentation:doc-docs environment:env-envs
error:err-errs function:func-funcs-fn implementation:impl information:info initialize:init library:lib-libs maximum:max
message:msg-msgs minimum:min package:pkg-pkgs parameter:param-params performance:perf production:prod reference:ref-refs
repository:repo-repos specification:spec-specs synchronous:sync temporary:tmp-temp utility:util-utils variable:var-vars
version:ver`

// spelling maps stems of words that are written in two ways.
const spelling = `
center:centr catalog:catalogu dialog:dialogu analyz:analys licens:licenc defens:defenc favorit:favourit gray:grey program:programm
artifact:artefact`

// table reads base:form-form lists into form -> base.
func table(lists ...string) map[string]string {
	out := map[string]string{}
	for _, row := range strings.Fields(strings.Join(lists, " ")) {
		base, forms, _ := strings.Cut(row, ":")
		for _, form := range strings.Split(forms, "-") {
			out[form] = base
		}
	}
	return out
}

// normalizeSpelling brings a stem to the one spelling of two: behaviour and behavior, centre and center.
func (a *analyzer) normalizeSpelling(stem string) string {
	if one, ok := a.spelling[stem]; ok {
		return one
	}
	if len(stem) > 4 && strings.HasSuffix(stem, "our") {
		return stem[:len(stem)-3] + "or"
	}
	return stem
}

// withZ writes organise, serialised and summarisation with the z of which the stemmer knows, in place.
func withZ(word []byte) {
	if len(word) < 7 {
		return
	}
	for _, end := range []string{"e", "ed", "es", "er", "ers", "ing", "ation", "ations"} {
		i := len(word) - len(end) - 2
		if i > 1 && string(word[i:i+2]) == "is" && string(word[i+2:]) == end && strings.IndexByte("dlmnrt", word[i-1]) >= 0 {
			word[i+1] = 'z'
			return
		}
	}
}
