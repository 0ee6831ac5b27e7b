package privacy

import (
	"strings"
	"sync"
)

// A use is what a program does with the files among its words.
type use byte

const (
	mayPrintFiles use = iota // what it prints may hold them; so it is of programs that nobody described
	readsFiles               // the same; all its words but options are files
	searchesFiles            // it reads files, and its first word is what it looks for
	runsCode                 // it may be given a program as one of its words
	writesFiles              // it prints nothing of them, and what stands in its words may go into them
	printsNothing            // it prints nothing of them
)

// A trait is what a program does beside reading files.
type trait uint16

const (
	runsProgram      trait = 1 << iota // what stands behind its options is the program; keywords of the shell are such, too
	takesLine                          // it takes a shell line as one of its words
	commandShell                       // it is a shell
	mayRunEnv                          // a program among its words may print variables
	mayRunEnvInside                    // the same, behind run or exec
	matchesNames                       // its words may be patterns for names of files
	bundlesPattern                     // what it looks for stands behind an e at the end of several short options
	entersContainer                    // it runs programs in containers
	loadsVariables                     // it sets variables that a file has
	copiesFiles                        // it copies, moves or links files to a word behind them
	copiesByCommand                    // the same, by its command cp
	packsFiles                         // it packs files into its first word that is no option
	writesItsWords                     // contents of a file may stand among its words
	neverWritesWords                   // they do not, whatever it does with files

	containers = takesLine | mayRunEnv | entersContainer | copiesByCommand
	keepsFiles = loadsVariables | copiesFiles | copiesByCommand | packsFiles
)

// A program is what is known of the programs of some names.
type program struct {
	source  string // the manual that describes its words, of a version that has them
	names   string
	use     use
	traits  trait
	takes   *list       // options behind which a word stands that is no file, or one of which nothing is printed
	before  *list       // options behind which a word stands, and that may stand before its command
	when    use         // it has this use, or takes says nothing; mayPrintFiles: it may have any
	edits   *list       // words with which it writes files
	quiet   []condition // under each of which it prints nothing
	loud    condition   // under which it prints of files after all
	loads   condition   // under which it prints variables that it loads from a file
	lists   condition   // under which it lists the environment
	secrets []condition // under each of which it prints secrets that its words do not name

	// Of a search:
	flags  string // short options that take no word
	counts string // those of them with which it tells only where, how often or whether
	tells  *list  // long options with which it does
	prints *list  // options with which it prints lines, whatever others say
	alone  *list  // long options that take no word
}

var (
	// printing are the devices that print what is written to them.
	printing = newList("/dev/std*", "/dev/fd*", "/dev/tty*")

	// readsVariable are the signs of a script that speaks of a variable of its environment.
	readsVariable = newList("*process.env*", "*environ*", "*getenv*", "*ENV[*", "*$ENV{*", "*Deno.env*", "*Bun.env*")

	// fileOptions are options of any program that take a word which is no file, or one of which nothing is printed.
	fileOptions = parseList(`--env-file --from-env-file --from-file --cacert --capath --cert --key --kubeconfig --volume --mount --secret
		--private-key --identity-file --grep --author --tls-cert --tls-key --ssl-key --ssl-cert --exclude --include --glob --iglob
		--regexp --message -var-file --var-file -backend-config --envfile --userconfig --netrc-file --ca-bundle --key-file
		--defaults-file --defaults-extra-file --vault-password-file --vault-pass-file`)
)

// Words that several rows have.
const (
	searchTakes     = "-e -g -t -T -A -B -C -m --type --max-count"
	searchTells     = "--files-with-matches --files-without-match --files-without-matches --count"
	searchPrints    = "--json --passthru -O* --open*"
	searchTakesNone = `--recursive --ignore-case --line-number --hidden --no-ignore --word-regexp --fixed-strings --extended-regexp --perl-regexp
		--no-messages --invert-match --follow --smart-case --cached --untracked --null`
	searchColours = " --color --colour"
)

var (
	editTakes           = parseList("-e -F -v")
	composeConfig       = condition{any: parseList("config convert"), none: parseList("-q --quiet --services --images --volumes --profiles --hash")}
	dockerComposeConfig = condition{any: composeConfig.any, and: parseList("compose"), none: composeConfig.none}
	copyCommand         = []condition{{first: parseList("cp"), none: parseList("-")}}
	npmTokens           = []condition{{any: parseList("*_authToken *_auth *_password npmAuthToken npmAuthIdent"), and: parseList("get"), none: parseList("set delete")}}
)

// programRows is the table of programs. A name stands in one row.
var programRows = []program{
	{
		source: "GNU coreutils 9, util-linux 2.40, less, vim and bat manuals; PowerShell 7 aliases", use: readsFiles,
		names: `cat head tail less more bat batcat nl tac sort uniq cut xxd od hexdump base64 strings comm paste nano get-content gc fold
			column type`,
	},
	{source: "GNU coreutils 9, vim 9, moreutils 0.69", use: readsFiles, traits: writesItsWords, names: "tee vim vi sponge"},
	{
		source: "age 1.2", use: readsFiles, names: "age",
		secrets: []condition{
			{any: parseList("-d --decrypt"), none: parseList("-o* --output*")},
			{any: parseList("-d --decrypt"), and: parseList("-")},
		},
	},
	{
		source: "GnuPG 2.4", use: readsFiles, traits: writesItsWords, names: "gpg",
		secrets: []condition{{any: parseList("-d --decrypt --export-secret*")}},
	},
	{source: "GNU diffutils 3.10", use: readsFiles, names: "diff", quiet: []condition{{any: parseList("-q --brief")}}},
	{source: "GNU diffutils 3.10", use: readsFiles, names: "cmp", quiet: []condition{{any: parseList("-q --brief -s")}}},
	{
		source: "OpenSSL 3 manual", use: readsFiles, traits: writesItsWords, names: "openssl", takes: parseList("-out -keyout -CAfile"),
		quiet: []condition{{first: parseList("verify"), none: parseList("-text")}, {any: parseList("-noout"), none: parseList("-text")}},
	},
	{
		source: "GNU grep 3.11", use: searchesFiles, traits: matchesNames | bundlesPattern, names: "grep egrep fgrep zgrep",
		takes: parseList(searchTakes), when: searchesFiles,
		flags: "rRniIwxvhHEFPaslLcqoz", counts: "lLcq", tells: parseList(searchTells + " --quiet --silent"), prints: parseList(searchPrints), alone: parseList(searchTakesNone + searchColours),
	},
	{
		source: "ripgrep 14: -L follows links, -r and --color take a word", use: searchesFiles, traits: matchesNames | bundlesPattern, names: "rg",
		takes: parseList(searchTakes), when: searchesFiles,
		flags: "niIwxvHFasSuUNPoLlcqz.", counts: "lcq", tells: parseList(searchTells + " --quiet"), prints: parseList(searchPrints), alone: parseList(searchTakesNone),
	},
	{
		source: "the_silver_searcher 2.2, ack 3: --silent is about errors", use: searchesFiles, traits: matchesNames, names: "ag ack",
		takes: parseList(searchTakes), when: searchesFiles,
		flags: "niwvsQulLc", counts: "lLc", tells: parseList(searchTells), prints: parseList(searchPrints + " --no*"), alone: parseList(searchTakesNone + searchColours),
	},
	{
		source: "GNU sed 4.9", use: searchesFiles, traits: matchesNames | writesItsWords, names: "sed gsed", takes: editTakes, when: searchesFiles,
		edits: parseList("-i* --in-place*"),
	},
	{
		source: "GNU awk 5.3", use: searchesFiles, traits: matchesNames, names: "awk gawk mawk", takes: editTakes, when: searchesFiles,
		lists: condition{any: newList("*in ENVIRON*")},
	},
	{source: "jq 1.7, yq 4", use: searchesFiles, names: "jq yq gojq", lists: condition{any: newList("env", "env|*", "env |*", " env*", "$ENV", "$ENV|*", "$ENV |*", " $ENV*")}},
	{
		source: "Docker 27 CLI reference, podman 5", traits: containers | neverWritesWords, names: "docker podman", quiet: copyCommand,
		takes: parseList("-v"), loads: composeConfig, lists: dockerComposeConfig,
		before:  parseList("-H --host -c --context --config -l --log-level --tlscacert --tlscert --tlskey --connection --identity --url --root --runroot"),
		secrets: []condition{{first: parseList("inspect"), any: parseList("*.Config.Env*")}},
	},
	{source: "Docker 27 CLI reference", traits: neverWritesWords, names: "docker-compose", takes: parseList("-v"), loads: composeConfig, lists: composeConfig},
	{
		source: "kubectl 1.31 reference", traits: containers, names: "kubectl oc", quiet: copyCommand,
		before: parseList(`-n --namespace --context --cluster --user -s --server --token --as --as-group --as-uid --request-timeout --kubeconfig
			--certificate-authority --client-certificate --client-key --cache-dir --tls-server-name --username --password -v --v`),
		secrets: []condition{
			{first: parseList("get"), any: parseList("secret secrets secret/* secrets/*"), and: parseList("-o* --output* --template*"), none: parseList("-owide -oname wide name")},
			{first: parseList("config"), any: parseList("--raw")},
		},
	},
	{
		source: "Helm 3.16 reference", names: "helm", secrets: []condition{{first: parseList("get"), any: parseList("values all")}},
		before: parseList(`-n --namespace --kube-context --kubeconfig --kube-apiserver --kube-token --kube-as-user --kube-as-group
			--kube-ca-file --kube-tls-server-name --registry-config --repository-cache --repository-config`),
		quiet: []condition{
			{first: parseList("upgrade install lint"), none: parseList("--dry-run* --debug -o* --output*")},
		},
	},
	{source: "Info-ZIP 3.0", traits: packsFiles, names: "zip", quiet: []condition{{none: parseList("-")}}},
	{source: "GNU tar 1.35", traits: packsFiles, names: "tar"},
	{
		source: "Terraform 1.9 CLI", names: "terraform tofu", loads: condition{any: parseList("console")},
		secrets: []condition{
			{first: parseList("output show"), any: parseList("-json -raw")},
			{first: parseList("state"), any: parseList("pull")},
		},
	},
	{
		source: "Git 2.47; gitRows has its commands", traits: bundlesPattern | neverWritesWords, names: "git", takes: parseList("-S* -G* -m -e"),
		before:  parseList("-C -c --git-dir --work-tree --namespace --config-env --attr-source"),
		secrets: []condition{{first: parseList("credential"), any: parseList("fill")}},
	},
	{source: "GNU findutils 4.10, fd 10", traits: matchesNames | neverWritesWords, names: "find fd", takes: parseList("-name -iname"), when: printsNothing},
	{source: "curl 8.10", names: "curl", takes: parseList("-E -o")},
	{source: "GNU wget 1.24", names: "wget", takes: parseList("-O")},
	{source: "rsync 3.3", traits: neverWritesWords, names: "rsync", takes: parseList("-e")},
	{source: "Ansible 2.17", names: "ansible ansible-playbook", takes: parseList("-i -e")},
	{source: "Ansible 2.17", names: "ansible-vault", secrets: []condition{{first: parseList("view")}}},
	{source: "SOPS 3.9", names: "sops", secrets: []condition{{any: parseList("-d --decrypt decrypt")}}},
	{source: "Vault 1.18", names: "vault", secrets: []condition{{first: parseList("kv read"), any: parseList("get read")}}},
	{
		source: "AWS CLI 2.22", names: "aws",
		before: parseList(`--profile --region --output --query --endpoint-url --ca-bundle --color --cli-read-timeout --cli-connect-timeout
			--cli-binary-format`),
		secrets: []condition{
			{any: parseList(`get-secret-value batch-get-secret-value get-authorization-token get-session-token
				create-access-key export-credentials --with-decryption`)},
			{first: parseList("sts"), any: parseList("assume-role*")},
			{first: parseList("eks"), any: parseList("get-token")},
			{first: parseList("configure"), any: parseList("*aws_secret_access_key *aws_session_token")},
		},
	},
	{
		source: "Google Cloud CLI 500", names: "gcloud",
		before: parseList(`--project --account --configuration --format --verbosity --impersonate-service-account --billing-project --flags-file
			--access-token-file --filter`),
		secrets: []condition{
			{any: parseList("print-access-token print-identity-token")},
			{first: parseList("secrets"), any: parseList("access")},
			{first: parseList("alpha beta"), any: parseList("secrets"), and: parseList("access")},
		},
	},
	{
		source: "Azure CLI 2.67", names: "az", before: parseList("-o --output --query --subscription"),
		secrets: []condition{
			{any: parseList("get-access-token")},
			{first: parseList("keyvault"), any: parseList("secret"), and: parseList("show download")},
		},
	},
	{source: "Heroku CLI 9", traits: takesLine | mayRunEnv, names: "heroku", secrets: []condition{{first: parseList("config config:get")}}},
	{
		source: "1Password CLI 2.30", traits: mayRunEnvInside, names: "op", before: parseList("--account --config --encoding --format --session"),
		secrets: []condition{
			{first: parseList("read")},
			{first: parseList("inject"), none: parseList("-o* --out-file*")},
			{first: parseList("inject"), any: parseList("*/dev/std* */dev/tty* */dev/fd/*")},
			{first: parseList("item"), any: parseList("--reveal")},
		},
	},
	{
		source: "Doppler CLI 3.69", traits: mayRunEnvInside, names: "doppler",
		before:  parseList("-t --token --config-dir --configuration --api-host --dashboard-host --scope --timeout --attempts"),
		secrets: []condition{{first: parseList("secrets"), none: parseList("set delete upload --only-names")}},
	},
	{
		source: "Chamber 3.1", traits: mayRunEnvInside, names: "chamber", before: parseList("-b --backend --backend-s3-bucket --kms-key-alias -r --retries"),
		secrets: []condition{{first: parseList("read export env")}},
	},
	{
		source: "Infisical CLI 0.31", names: "infisical", before: parseList("--domain -l --log-level"),
		secrets: []condition{{first: parseList("secrets export"), none: parseList("set delete folders")}},
	},
	{
		source: "pass 1.7, gopass 1.15: without a command's name they show", names: "pass gopass",
		secrets: []condition{{
			other: parseList(`init ls list find search insert add edit rm remove delete mv move rename cp copy git help version age alias
				audit clone completion config convert create env fscopy fsmove fsck gpgid history link merge mounts new rcs recipients reorg
				setup sum sync templates unclip update`),
			none: parseList("-c* --clip* -h --help --version"),
		}},
	},
	{
		source: "Bitwarden CLI 2024.10", names: "bw", before: parseList("--session"),
		secrets: []condition{
			{first: parseList("get"), any: parseList("password item totp notes")},
			{first: parseList("list"), any: parseList("items")},
			{first: parseList("export"), any: parseList("--raw")},
			{first: parseList("unlock login"), none: parseList("--check -h --help")},
		},
	},
	{
		source: "macOS 15", names: "security",
		secrets: []condition{{any: parseList("find-generic-password find-internet-password"), and: parseList("-w* -g*")}},
	},
	{source: "libsecret 0.21", names: "secret-tool", secrets: []condition{{first: parseList("lookup search")}}},
	{
		source: "keyring 25", names: "keyring", before: parseList("-p --keyring-path -b --keyring-backend --mode --output"),
		secrets: []condition{{first: parseList("get")}},
	},
	{source: "Rails 8", names: "rails", secrets: []condition{{first: parseList("credentials:show secrets:show")}}},
	{
		source: "Bundler 2.5, Rails 8", traits: mayRunEnvInside, names: "bundle",
		secrets: []condition{{first: parseList("exec"), any: parseList("credentials:show secrets:show")}},
	},
	{
		source: "Pulumi 3.140", traits: mayRunEnvInside, names: "pulumi", before: parseList("-C --cwd --color -v --verbose --tracing -s --stack"),
		secrets: []condition{
			{any: parseList("--show-secrets")},
			{first: parseList("config"), any: parseList("get")},
			{first: parseList("env"), any: parseList("open")},
		},
	},
	{
		source: "Pulumi ESC 0.11", traits: mayRunEnvInside, names: "esc",
		secrets: []condition{{any: parseList("--show-secrets")}, {first: parseList("open")}, {first: parseList("env"), any: parseList("open")}},
	},
	{source: "OpenSSH 9.9", traits: takesLine | mayRunEnv, names: "ssh", takes: parseList("-i")},
	{source: "OpenSSH 9.9, mosh 1.4", names: "sftp ssh-copy-id mosh", takes: parseList("-i")},
	{source: "systemd 256", names: "systemctl", lists: condition{any: parseList("show-environment")}},
	{
		source: "npm 10, Yarn 1: env is a script that each project has", names: "npm yarn",
		before: parseList("-C --prefix --cwd --registry --userconfig -w --workspace --loglevel"), secrets: npmTokens,
		lists: condition{first: parseList("run run-script"), any: parseList("env"), none: parseList("--")},
	},
	{source: "pnpm 9", names: "pnpm", secrets: npmTokens},
	{source: "Bash 5.2, Zsh 5.9", names: "fc", secrets: []condition{{any: parseList("-l*")}}},
	{source: "Bash 5.2, Zsh 5.9", names: "history", secrets: []condition{{none: parseList("-c -d* -w -a -r -s")}}},
	{
		source: "Bash 5.2, GNU coreutils 9, OpenSSH 9.9; what they say of a file is its name, size or kind", use: printsNothing,
		names: `test [ [[ ls ll dir stat touch rm chmod chown chgrp mkdir rmdir shred du wc file realpath readlink dirname basename cd
			pushd unset which sha256sum shasum md5sum make for ssh-add tree open code printenv`,
	},
	{
		source: "gh 2.60; what they say of a file is its name", use: printsNothing, names: "gh",
		secrets: []condition{{first: parseList("auth"), any: parseList("token -t --show-token")}},
	},
	{source: "Bash 5.2", use: printsNothing, traits: loadsVariables, names: "source ."},
	{source: "Bash 5.2", use: printsNothing, traits: writesItsWords, names: "echo printf export alias declare local readonly"},
	{source: "GNU coreutils 9", use: printsNothing, traits: copiesFiles, names: "cp mv ln install"},
	{source: "OpenSSH 9.9", use: printsNothing, traits: copiesFiles, names: "scp", takes: parseList("-i")},
	{source: "OpenSSH 9.9", use: printsNothing, traits: neverWritesWords, names: "ssh-keygen"},
	{source: "direnv 2.35", use: printsNothing, traits: mayRunEnvInside, names: "direnv"},
	{source: "env-cmd 10", use: printsNothing, traits: mayRunEnv, names: "env-cmd"},
	{source: "dotenv-cli 7, python-dotenv 1", use: printsNothing, traits: mayRunEnv, names: "dotenv", loud: condition{any: parseList("list* get* -p*")}},
	{source: "Go 1.26", use: printsNothing, names: "go", loud: condition{first: parseList("run")}},
	{
		source: "their manuals", use: runsCode, names: "python node nodejs ruby perl deno bun tsx ts-node lua rscript osascript groovy",
		loads: condition{any: readsVariable},
	},
	{source: "PHP 8.3 CLI", use: runsCode, names: "php", loads: condition{any: readsVariable}, lists: condition{any: parseList("-i")}},
	{source: "Bash 5.2", traits: commandShell, names: "sh bash zsh dash ksh fish pwsh powershell"},
	{source: "Windows cmd", traits: commandShell | mayRunEnv, names: "cmd"},
	{
		source: "Bash 5.2, GNU coreutils 9, npm 10", traits: runsProgram, names: `command builtin exec nice then do else if elif while until ! env
			stdbuf setsid busybox npx bunx pnpx`,
	},
	{source: "sudo 1.9, GNU coreutils 9, GNU findutils 4.10", traits: runsProgram | takesLine, names: "sudo doas time nohup xargs timeout"},
	{source: "util-linux 2.40, tmux 3.5", traits: takesLine, names: "eval script tmux screen vagrant"},
	{source: "util-linux 2.40, procps 4, Fly and Nix references", traits: takesLine | mayRunEnv, names: "su watch wsl fly nix"},
	{source: "their references", traits: mayRunEnvInside, names: "poetry uv pipenv conda mise asdf aws-vault"},
}

// programs are the rows of the table by name.
var programs = sync.OnceValue(func() map[string]*program {
	known := map[string]*program{}
	for i := range programRows {
		for name := range strings.FieldsSeq(programRows[i].names) {
			known[name] = &programRows[i]
		}
	}
	return known
})

// noProgram is what is known of all others.
var noProgram program

// programNamed returns what is known of a program.
func programNamed(name string) *program {
	if p := programs()[name]; p != nil {
		return p
	}
	if strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy") {
		return programs()["python"]
	}
	return &noProgram
}

// has reports whether a program has one of some traits.
func (p *program) has(t trait) bool { return p.traits&t != 0 }

// takesWord reports whether an option of a program that has a use takes a word that is no file, or one of which nothing is
// printed.
func (p *program) takesWord(kind use, option string) bool {
	long, _, _ := strings.Cut(option, "=")
	return fileOptions.has(long) || p.takes.has(option) && (p.when == mayPrintFiles || p.when == kind)
}

// onlyReads reports whether no contents of a file are given to a program that has a use.
func (p *program) onlyReads(kind use) bool {
	return p.has(neverWritesWords) || !p.has(writesItsWords) && (kind == readsFiles || kind == printsNothing || kind == searchesFiles)
}

// isShell reports whether a program is a shell.
func isShell(name string) bool {
	return programNamed(strings.TrimSuffix(name, ".exe")).has(commandShell)
}

// A gitRow is commands of git that print nothing of files under a condition.
type gitRow struct {
	names    *list
	quietIf  condition
	allWords bool // it is about all words of git, and not only those from the command's name on
}

// gitRows is the table of git's commands, by the manual of Git 2.47: what only moves files, and what only names those that
// changed, prints nothing of them, unless it is to show the changes.
var gitRows = sync.OnceValue(func() []gitRow {
	const patches = "-p -u -c -W --cc --binary --patch --ext-diff -U* -L* --unified* --patch-with* --word-diff* --color-words* " +
		"--function-context* --remerge-diff* --diff-merges*"
	return []gitRow{
		{quietIf: condition{none: parseList(patches)}, names: parseList(`add rm mv status check-ignore ls-files restore checkout switch reset clone
			push pull fetch branch tag update-index merge rebase init clean worktree remote filter-repo log`)},
		{quietIf: condition{none: parseList(patches + " -v")}, names: parseList("commit")},
		{quietIf: condition{none: parseList(patches)}, names: parseList("stash"), allWords: true},
		{quietIf: condition{none: parseList("-l --list --get*")}, names: parseList("config")},
		{
			quietIf: condition{
				any:  parseList("--name-only --name-status --numstat --shortstat --summary --quiet --no-patch -s --stat*"),
				none: parseList(patches + " *:*"),
			},
			names: parseList("show diff"), allWords: true,
		},
		{names: parseList("blame cat-file")},
	}
})
