"""`python -m hrns` is `hrns`."""

import sys

from .cli import main

sys.exit(main())
