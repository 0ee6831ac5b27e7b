package recall

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cmemd/cmemd/projections/index"
)

// script is how the words of a run of letters are told apart.
type script int

const (
	spaced     script = iota // they stand between blanks
	ideographs               // nothing shows where one ends: every pair of signs may be one
	katakana                 // a run is a word
	hangul                   // a run is a word with endings
	endings                  // hiragana: a run is what holds words together
	letters                  // nothing shows where one ends, and a letter says little
)

// hangulStem is how many syllables of a word in Hangul count, and letterRun how many letters that stand together are looked
// for in scripts of letters without blanks.
const (
	hangulStem = 2
	letterRun  = 4
)

func scriptOf(r rune) script {
	switch {
	case !index.Spaceless(r):
		return spaced
	case unicode.Is(unicode.Han, r):
		return ideographs
	case unicode.Is(unicode.Hiragana, r):
		return endings
	case r == 'ー' || unicode.Is(unicode.Katakana, r):
		return katakana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	}
	return letters
}

// unspaced reports whether a word is of a script that writes no blanks, or endings where a word should end.
func unspaced(word string) bool {
	r, _ := utf8.DecodeRuneInString(word)
	return scriptOf(r) != spaced
}

// pieces cuts a word where its script changes, and each part into what stands for its words; signs that stand alone are
// left out.
func pieces(word string) (out []string) {
	runes := []rune(word)
	for len(runes) > 0 {
		kind, n := scriptOf(runes[0]), 1
		for n < len(runes) && scriptOf(runes[n]) == kind {
			n++
		}
		run := runes[:n]
		runes = runes[n:]
		switch {
		case kind == spaced:
			out = append(out, strings.TrimFunc(string(run), isNamePunct))
		case n < 2 || kind == endings:
		case kind == katakana:
			out = append(out, string(run))
		case kind == hangul:
			out = append(out, string(run[:hangulStem]))
		case kind == ideographs:
			out = grams(out, run, 2)
		default:
			out = grams(out, run, letterRun)
		}
	}
	return out
}

// grams appends all that n runes of run that stand together make, or the whole of a shorter one.
func grams(out []string, run []rune, n int) []string {
	n = min(n, len(run))
	for i := range len(run) - n + 1 {
		out = append(out, string(run[i:i+n]))
	}
	return out
}

// chained reports whether second begins a sign behind where first does, in one run.
func chained(first, second string) bool {
	if !unspaced(first) || !unspaced(second) {
		return false
	}
	_, head := utf8.DecodeRuneInString(first)
	_, tail := utf8.DecodeLastRuneInString(second)
	return first[head:] == second[:len(second)-tail]
}

// functionSigns stand in Chinese sentences whatever they are about.
const functionSigns = "的了是在不我你他她它这這那们們和与與就都也很还還吗嗎呢吧啊把被给給让讓么麼什怎哪谁誰请請"

// isCommonPiece is isCommon for the words of unspaced scripts.
func isCommonPiece(w string) bool {
	if strings.ContainsAny(w, functionSigns) {
		return true
	}
	switch w {
	case "添加", "增加", "更改", "改变", "检查", "代码", "当前", "解释", "文件", "查找", "首先", "修复", "修改", "函数", "获取", "帮助",
		"帮我", "如何", "实现", "问题", "知道", "看看", "需要", "下一", "一下", "一个", "项目", "移除", "删除", "运行", "相同", "应该",
		"显示", "一些", "仍然", "告诉", "测试", "谢谢", "事情", "更新", "使用", "想要", "为何", "现在", "然后", "因为", "所以", "但是",
		"如果", "可以", "工作", "编写", "进行", "以及", "或者", "没有",
		"檢查", "程式", "檔案", "問題", "專案", "刪除", "應該", "顯示", "測試", "謝謝",
		"追加", "変更", "確認", "関数", "修正", "実装", "必要", "実行", "場合", "今回", "方法", "コード", "ファイル", "テスト", "プロジェクト",
		"코드", "파일", "테스", "함수", "추가", "수정", "확인", "변경", "삭제", "실행", "구현", "문제", "프로", "필요", "사용", "어떻",
		"무엇", "이것", "그것", "저것", "여기", "거기", "때문", "위해", "대한", "대해", "모든", "합니", "습니", "있는", "있습", "없는",
		"없습", "하는", "하고", "해서", "해줘", "해주", "해야", "그리", "그런", "이런", "지금":
		return true
	}
	return false
}

// isNamePunct knows what stands within names and paths.
func isNamePunct(r rune) bool { return strings.ContainsRune("_-./", r) }
