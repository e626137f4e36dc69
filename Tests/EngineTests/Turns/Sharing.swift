import Ledger
import Testing

@testable import Engine

@Suite struct `work that shares a commit` {
    /// What is committed together, in order; the pieces in `bad` are refused wherever they are.
    private func commits(_ work: [Int], bad: Set<Int>) -> (commits: [[Int]], rest: [Int]) {
        var shared = SharedCommit(work)
        var commits: [[Int]] = []
        while let next = shared.next {
            if bad.isDisjoint(with: next) {
                commits.append(next)
                shared.committed()
            } else {
                shared.refused()
            }
        }
        return (commits, Array(shared.rest))
    }

    @Test func `is committed at once when nothing is refused`() {
        #expect(commits([1, 2, 3], bad: []) == ([[1, 2, 3]], []))
        #expect(commits([], bad: []) == ([], []))
    }

    @Test func `is committed piece by piece after a refusal, and only what is refused alone is given up`() {
        #expect(commits([1, 2, 3], bad: [2]) == ([[1], [3]], []))
        #expect(commits([7], bad: [7]) == ([], []))
        #expect(commits([1, 2], bad: [1, 2]) == ([], []))
    }

    @Test func `keeps what is neither committed nor refused when the ledger fails`() {
        var shared = SharedCommit([1, 2, 3])
        shared.refused()
        #expect(shared.next == [1] && shared.isSingle)
        shared.committed()
        shared.refused()
        #expect(Array(shared.rest) == [3])
    }
}
