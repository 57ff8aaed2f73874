"""What the README shows runs as it stands."""

import re

from conftest import ROOT


def test_every_block_of_the_readme_runs(address):
    text = (ROOT / "client" / "python" / "README.md").read_text().replace("localhost:8001", address)
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 6
    names = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["sevens"].shape == (12, 256) and names["loss"].loss > 0
    names["client"].close()
