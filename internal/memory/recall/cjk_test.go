package recall

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/cmemd/cmemd/events"
	"github.com/cmemd/cmemd/projections/rows"
)

func TestPieces(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"支付网关超时":           {"支付", "付网", "网关", "关超", "超时"},
		"用API处理":           {"API", "处理"},
		"決済ゲートウェイの再試行":     {"決済", "ゲートウェイ", "再試", "試行"},
		"税を見る":             {},
		"결제가 게이트웨이에서":      {"결제", "게이"},
		"ทำไมหมดเวลา":      {"ทำไม", "ำไมห", "ไมหม", "มหมด", "หมดเ", "มดเว", "ดเวล", "เวลา"},
		"src/支付.go, a_b":   {"src", "支付", "go", "a_b"},
		"naïve cafe\u0301": {"naïve", "cafe\u0301"},
		"……":               {},
	} {
		if diff := cmp.Diff(want, splitWords(text)); diff != "" {
			t.Errorf("%q: -want +got\n%s", text, diff)
		}
	}
}

func TestOverlapWithoutBlanks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prompt, title string
		want          int
	}{
		{"为什么支付网关会超时?请检查重试逻辑", "支付网关超时重试", 4}, // 支付 网关 超时 重试
		{"为什么支付网关会超时?", "购物车的颜色是什么", 0},
		{"请检查代码和测试", "请修改代码和测试", 0},
		{"支付网关", "支付网关", 2},
		{"付款", "支付网关", 0},
		{"決済ゲートウェイのタイムアウトを修正してください", "決済ゲートウェイはタイムアウトしていました", 3},
		{"買い物かごの色を変更しています", "決済ゲートウェイはタイムアウトしています", 0},
		{"결제 게이트웨이가 왜 시간 초과되나요", "결제 게이트웨이의 시간 초과 처리", 4},
		{"버튼의 색을 변경해야 합니다", "결제 게이트웨이를 변경해야 합니다", 0},
		{"computeDiscount为什么超时", "computeDiscount 超时", 3},
	} {
		if got, _ := overlap(tellingWords(c.prompt), rows.Row{Title: c.title}); got != c.want {
			t.Errorf("overlap(%q, %q) = %d, want %d; telling: %q", c.prompt, c.title, got, c.want, tellingWords(c.prompt))
		}
	}
}

// What is written without blanks is told at a prompt as what is written with them, and nothing else is.
func TestPromptsWithoutBlanks(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	chinese := w.observe(s, "bugfix", "支付网关超时重试", "网关在三十秒后放弃,现在重试两次。")
	japanese := w.observe(s, "bugfix", "決済ゲートウェイのタイムアウトを直した", "再試行は二回まで。")
	korean := w.observe(s, "bugfix", "결제 게이트웨이의 시간 초과 처리", "두 번 다시 시도합니다.")
	w.observe(s, "change", "购物车按钮的颜色", "按钮是绿色的。")
	w.observe(s, "change", "ボタンの色を変更しました", "緑色になりました。")
	for prompt, want := range map[string][]events.ID{
		"为什么支付网关会超时?请检查重试逻辑":         {chinese},
		"決済ゲートウェイがタイムアウトする。再試行は?":    {japanese},
		"결제 게이트웨이가 왜 시간 초과되나요?":      {korean},
		"请帮我写一个函数,用来计算两个日期之间有多少个工作日": nil,
		"ありがとうございます。続けてください":         nil,
	} {
		got := w.mustContext(prompted(events.SessionID{}, prompt))
		if diff := cmp.Diff(names(want), names(got.IDs)); diff != "" {
			t.Errorf("%q: -want +got\n%s\n%s", prompt, diff, got.Text)
		}
	}
}

// The row with the words of a query together comes before one that has them apart, in any script.
func TestPhraseWithoutBlanksComesFirst(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.open("a", "shop")
	together := w.observe(s, "bugfix", "备注", "昨天晚上支付网关经常没有回答我们的消息")
	w.observe(s, "bugfix", "备注", "昨天晚上支付经常没有回答我们的网关付网消息")
	got := w.mustSearch(Query{Text: "支付网关"})
	if len(got.Results) != 2 || got.Results[0].ID != together {
		t.Errorf("got %v, want %v first", idsOf(got.Results), together)
	}
	if a, b := closeOf(w, "昨天支付网关没有回答", "支付网关"), closeOf(w, "支付了网关", "支付网关"); a <= b {
		t.Errorf("together %v, apart %v", a, b)
	}
}

func closeOf(w *world, text, query string) float64 {
	return phraseBoost(rows.Row{Narrative: text}, w.index.StemPrefixes(query))
}

// How a text is cut: nothing is made up, nothing is empty, and a row has all of the prompt that it is.
func TestWordsStandInTheirText(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		text := rapid.StringOfN(rapid.SampledFrom([]rune("支付网关超时ゲートウーの再결제게이ทำไม้aB_./- 9é\u0301，")), 0, 40, -1).Draw(r, "text")
		for _, w := range splitWords(text) {
			if w == "" || !strings.Contains(text, w) || !utf8.ValidString(w) {
				r.Fatalf("%q is cut into %q", text, splitWords(text))
			}
		}
		if words := tellingWords(text); len(words) > 0 {
			if _, all := overlap(words, rows.Row{Title: text}); !all {
				r.Fatalf("%q lacks one of its own %q", text, words)
			}
			if got := strings.Fields(searched(words)); len(got) > maxPromptWords*pairsOfWord || !slices.Equal(got, words[:len(got)]) {
				r.Fatalf("%q is searched by %q", text, got)
			}
		}
	})
}

// FuzzOverlap: whatever is said, a row's score is no more than two for each of its words.
func FuzzOverlap(f *testing.F) {
	f.Add("为什么支付网关会超时", "支付网关超时")
	f.Add("computeDiscount in src/支付.go", "결제 ゲート")
	f.Fuzz(func(t *testing.T, prompt, text string) {
		words := tellingWords(prompt)
		if got, _ := overlap(tellingWords(prompt), rows.Row{Title: text}); got < 0 || got > 2*len(words) {
			t.Fatalf("%q in %q: %d of %q", prompt, text, got, words)
		}
	})
}
