"""PyOP2's log."""

from __future__ import annotations

import logging

__all__ = ["CRITICAL", "DEBUG", "ERROR", "INFO", "WARNING", "critical", "debug", "error", "info", "log", "logger", "set_log_level", "warning"]

DEBUG, INFO, WARNING, ERROR, CRITICAL = logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR, logging.CRITICAL

logger = logging.getLogger("pyop2")
debug, info, warning, error, critical, log = logger.debug, logger.info, logger.warning, logger.error, logger.critical, logger.log
set_log_level = logger.setLevel
