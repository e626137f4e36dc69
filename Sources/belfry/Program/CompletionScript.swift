/// The script that a shell sources, with the names of jobs behind `belfry run`.
///
/// The parser's generator knows no default subcommand: it would offer the word `JOB`, which stands for one.
enum CompletionScript {
    /// `script` as it should be; any other text as it is.
    static func corrected(_ script: String) -> String {
        if script.hasPrefix("#!/bin/bash") { return bash(script) }
        if script.hasPrefix("#compdef") { return zsh(script) }
        return script.contains("complete -c 'belfry'") ? fish(script) : script
    }

    private static func bash(_ script: String) -> String {
        script
            .replacing("    JOB|show|logs|", with: "    show|logs|")
            .replacing(
                "        COMPREPLY+=($(compgen -W 'JOB show logs cancel pause resume retry' -- \"${cur}\"))\n",
                with: """
                            if [[ -z "${subcommand}" || "${subcommand}" = "${cur}" ]]; then
                                COMPREPLY+=($(compgen -W 'show logs cancel pause resume retry' -- "${cur}"))
                            fi
                            # No word of it, so a job, or what may become one.
                            unparsed_words=("${subcommand}" "${unparsed_words[@]}")
                            _belfry_run_JOB

                    """)
    }

    private static func zsh(_ script: String) -> String {
        script
            .replacing("            'JOB:Runs the job of this name now.'\n", with: "")
            .replacing(
                """
                            'retry:Repeats a finished run as a new one.'
                        )

                """,
                with: """
                                'retry:Repeats a finished run as a new one.'
                            )
                            __belfry_custom_complete ---completion run JOB -- positional@0 "${current_word_index}" \
                    "$(__belfry_cursor_index_in_current_word)" && ret=0

                    """
            )
            .replacing(
                """
                        JOB|show|logs|cancel|pause|resume|retry)
                            "_belfry_run_${words[1]}" && ret=0
                            ;;

                """,
                with: """
                            show|logs|cancel|pause|resume|retry)
                                "_belfry_run_${words[1]}" && ret=0
                                ;;
                            *)
                                words=(JOB "${words[@]}")
                                (( CURRENT++ ))
                                _belfry_run_JOB && ret=0
                                ;;

                    """)
    }

    private static func fish(_ script: String) -> String {
        let job = "case 'JOB'\n"
        guard let start = script.firstRange(of: job),
            let end = script[start.upperBound...].firstRange(of: "            case 'show'\n")
        else { return script }
        // What every other word means stands last, and takes that word for the job's name.
        let parsing = script[start.upperBound..<end.lowerBound]
        var corrected = script.replacingCharacters(start.lowerBound..<end.upperBound, "case 'show'\n")
        let others = corrected[start.lowerBound...].firstRange(of: "            end\n")
        if let others {
            corrected.insert(
                contentsOf: """
                                case '?*'
                                    set -p unparsed_tokens JOB

                    """ + parsing, at: others.lowerBound)
        }
        let offer =
            "(__belfry_custom_completion ---completion run JOB -- positional@0 "
            + "(count (__belfry_tokens -pc)) (__belfry_tokens -tC))"
        return corrected.replacing("-fa 'JOB' -d 'Runs the job of this name now.'", with: "-fka '\(offer)'")
    }
}

extension String {
    fileprivate func replacingCharacters(_ range: Range<Index>, _ text: String) -> String {
        var changed = self
        changed.replaceSubrange(range, with: text)
        return changed
    }
}
